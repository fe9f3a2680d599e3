// Text and chance for the pages and photos of the corpus: the same on every machine.

/** A generator of numbers in [0, 1) that gives the same row for the same seed (mulberry32). */
export function chance(seed) {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const subjects = ['The broker', 'Every worker', 'A failed request', 'The record', 'One picture', 'The second review',
  'Our scheduler', 'The signed token', 'A slow disk', 'Each branch', 'The cached answer', 'A missing header']
const verbs = ['keeps', 'returns', 'measures', 'refuses', 'delivers', 'compares', 'describes', 'follows', 'replaces', 'signals']
const objects = ['the oldest message', 'seven small changes', 'a queue of jobs', 'both sides of the contract', 'the final number',
  'an empty folder', 'the width of the column', 'more memory than before', 'what the user asked', 'a list of names', 'the public key']
const endings = ['before the lock is given back', 'when nobody is waiting', 'after 250 milliseconds', 'without reading the file twice',
  'so that nothing is lost', 'as the manual explains', 'unless the clock moved', 'in version 4.17', 'while the lamp is green', 'for 12 euros']

export const sentence = (r) => {
  const pick = (list) => list[Math.floor(r() * list.length)]
  return `${pick(subjects)} ${pick(verbs)} ${pick(objects)} ${pick(endings)}.`
}

export const paragraph = (r, n) => Array.from({ length: n }, () => sentence(r)).join(' ')

const names = ['count', 'reader', 'limit', 'buffer', 'order', 'result', 'width', 'index', 'total', 'frame']

/** Lines of a program that is not one, as spans with the classes k, s, n and c. */
export function code(r, lines) {
  const name = () => names[Math.floor(r() * names.length)]
  const out = []
  for (let i = 0, deep = 0; i < lines; i++) {
    const pad = '    '.repeat(deep)
    const kind = r()
    if (kind < 0.12) out.push(`${pad}<i class=c>// ${sentence(r)}</i>`)
    else if (kind < 0.27 && deep < 4) out.push(`${pad}<i class=k>if</i> ${name()} &lt; <i class=n>${Math.floor(r() * 4096)}</i> {`), deep++
    else if (kind < 0.4 && deep > 0) deep--, out.push(`${'    '.repeat(deep)}}`)
    else if (kind < 0.5) out.push('')
    else if (kind < 0.7) out.push(`${pad}${name()} := ${name()}.<i class=f>${name()}</i>(<i class=s>"${sentence(r).slice(0, 34)}"</i>, ${name()})`)
    else out.push(`${pad}<i class=k>return</i> ${name()}[<i class=n>${Math.floor(r() * 99)}</i>] + ${name()}`)
  }
  return out
}
