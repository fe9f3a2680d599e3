// The pages that Chromium draws for the corpus: a documentation page, a dashboard, a
// code editor, a long article, a wall of all of them, and pages of known text.
import { chance, code, paragraph, sentence } from './words.mjs'

const shell = (css, body) => `<!doctype html><meta charset=utf-8><style>*{box-sizing:border-box}body{margin:0;font:15px/1.55 'DejaVu Sans','Liberation Sans',sans-serif}
${css}</style>${body}`

const codeCSS = `.k{color:#c678dd}.s{color:#98c379}.n{color:#d19a66}.c{color:#7f848e;font-style:italic}.f{color:#61afef}i{font-style:normal}
pre{margin:0;font:13px/1.45 'DejaVu Sans Mono',monospace}`

function docs(r) {
  const menu = Array.from({ length: 60 }, (_, i) => `<a ${i === 7 ? 'class=on' : ''}>${sentence(r).split(' ').slice(0, 3).join(' ')}</a>`).join('')
  const parts = Array.from({ length: 14 }, (_, i) => `<h2>${i + 1}. ${sentence(r).slice(0, -1)}</h2><p>${paragraph(r, 5)}</p>
<pre class=box>${code(r, 9).join('\n')}</pre><p>${paragraph(r, 3)}</p>
<table>${Array.from({ length: 5 }, (_, k) => `<tr><td>${k}</td><td><code>option-${k}</code></td><td>${sentence(r)}</td><td>${(r() * 1000).toFixed(1)} ms</td></tr>`).join('')}</table>`)
  return shell(`${codeCSS}body{display:grid;grid-template-columns:300px 1fr 1fr;color:#1f2328}nav{background:#f6f8fa;border-right:1px solid #d0d7de;padding:20px}
nav a{display:block;padding:4px 12px;border-radius:6px;color:#424a53}nav a.on{background:#0969da;color:#fff}main{padding:24px 40px}
.box{background:#282c34;color:#abb2bf;padding:16px;border-radius:8px}table{border-collapse:collapse;width:100%}td{border:1px solid #d0d7de;padding:5px 10px}
h2{border-bottom:1px solid #d0d7de}`, `<nav>${menu}</nav><main>${parts.slice(0, 7).join('')}</main><main>${parts.slice(7).join('')}</main>`)
}

function chart(r, hue) {
  let y = 60
  const points = Array.from({ length: 60 }, (_, i) => { y = Math.max(8, Math.min(112, y + (r() - 0.5) * 22)); return [i * 8, y] })
  const line = points.map((p) => p.map((v) => v.toFixed(1)).join(',')).join(' ')
  const bars = points.filter((_, i) => i % 3 === 0).map(([x, h]) => `<rect x=${x} y=${(120 - h / 3).toFixed(1)} width=12 height=${(h / 3).toFixed(1)} fill="hsl(${hue} 60% 40% / .5)"/>`).join('')
  return `<svg viewBox="0 0 472 120" width=100%><defs><linearGradient id=g${hue} x1=0 x2=0 y1=0 y2=1><stop offset=0 stop-color="hsl(${hue} 80% 60%)" stop-opacity=.8 />
<stop offset=1 stop-color="hsl(${hue} 80% 60%)" stop-opacity=0 /></linearGradient></defs>${bars}<polygon points="0,120 ${line} 472,120" fill="url(#g${hue})"/>
<polyline points="${line}" fill=none stroke="hsl(${hue} 80% 65%)" stroke-width=1.6 /></svg>`
}

const dashboardCSS = `.dash{background:radial-gradient(circle at 20% 0,#26365f,#10131f 60%);color:#e6e9f2;padding:24px;display:grid;grid-template-columns:repeat(4,1fr);gap:18px}
.card{background:linear-gradient(160deg,#232a45,#191e33);border-radius:14px;padding:16px;box-shadow:0 8px 24px #0008}.big{font-size:30px;font-weight:700}.dim{color:#8d97b5}`

const dashboard = (r, cards) => `<div class=dash>${Array.from({ length: cards }, (_, i) => `<div class=card><div class=dim>${sentence(r).split(' ').slice(0, 4).join(' ')}</div>
<div class=big>${(r() * 9999).toFixed(1)}</div>${chart(r, (i * 47) % 360)}<div class=dim>${sentence(r)}</div></div>`).join('')}</div>`

const editorCSS = `${codeCSS}.ed{background:#21252b;color:#abb2bf;display:grid;grid-template-columns:260px 50px 1fr 150px}.ed>*{padding:10px}.tree{background:#1b1f24}
.num{color:#495162;text-align:right}.map{font-size:2px;line-height:3px;opacity:.7}`

function editor(r, lines) {
  const text = code(r, lines)
  return `<div class=ed><pre class=tree>${Array.from({ length: lines }, (_, i) => `${'  '.repeat(i % 4)}▸ ${sentence(r).split(' ')[1]}_${i}.go`).join('\n')}</pre>
<pre class=num>${text.map((_, i) => i + 1).join('\n')}</pre><pre>${text.join('\n')}</pre><pre class=map>${text.join('\n')}</pre></div>`
}

const article = (r) => shell('body{padding:60px 250px;font:19px/1.7 "DejaVu Serif","Liberation Serif",serif;color:#222;background:#fffdf8}figure{margin:30px 0;background:#10131f;border-radius:10px;padding:20px}h2{font-size:30px}',
  Array.from({ length: 26 }, (_, i) => `<h2>${sentence(r).slice(0, -1)}</h2><p>${paragraph(r, 6)}</p><p>${paragraph(r, 5)}</p>${i % 3 === 1 ? `<figure>${chart(r, i * 31)}</figure>` : ''}`).join(''))

const wall = (r) => shell(`${editorCSS}${dashboardCSS}.wall{display:grid;grid-template-columns:1fr 1fr}.text{padding:40px;columns:3}`,
  `<div class=wall>${dashboard(r, 24)}${editor(r, 80)}<div class=text>${paragraph(r, 90)}</div>${dashboard(r, 28)}<div>${editor(r, 70)}</div><div class=text>${paragraph(r, 110)}</div></div>`)

/** Known text in sizes from 9 to 16 CSS pixels; lines gives what must be read, in order. */
function known(r, width) {
  const lines = []
  const rows = [9, 10, 11, 12, 13, 14, 15, 16].flatMap((size) => Array.from({ length: 4 }, () => {
    let text = sentence(r)
    while ((text.length + 60) * size * 0.62 < width) text += ' ' + sentence(r)
    lines.push(text)
    return `<div style="font-size:${size}px">${text}</div>`
  }))
  return { html: shell('body{padding:30px 40px;background:#fff;color:#111;line-height:2.1}', rows.join('')), lines }
}

const plainPages = {
  'dashboard-1080p': { width: 1920, height: 1080, html: () => shell(dashboardCSS + 'body{background:#10131f}', dashboard(chance(1), 16)) },
  'editor-1440p': { width: 2560, height: 1440, html: () => shell(editorCSS + 'body{background:#21252b}', editor(chance(2), 76)) },
  'docs-4k': { width: 3840, height: 2160, html: () => docs(chance(3)) },
  'article-1280x12000': { width: 1280, height: 12000, html: () => article(chance(4)) },
  'wall-36mp': { width: 4000, height: 2250, scale: 2, html: () => wall(chance(5)) },
  'editor-4k': { width: 1920, height: 1080, scale: 2, html: () => shell(editorCSS + 'body{background:#21252b}', editor(chance(6), 57)) },
}

/** The pages by name: {width, height, scale?, html, lines?}, sizes in CSS pixels. */
export function pages() {
  const all = {}
  for (const [name, p] of Object.entries(plainPages)) all[name] = { ...p, html: p.html() }
  all['text-4k'] = { width: 1920, height: 1080, scale: 2, ...known(chance(7), 1840) }
  all['text-1440p'] = { width: 2560, height: 1440, ...known(chance(8), 2480) }
  return all
}
