// A process that answers a line with a line, and small sums over what it says.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export class Peer {
  constructor(command, args, env = {}) {
    this.process = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]()
    this.ended = new Promise((done) => this.process.on('exit', done))
  }

  async ask(question) {
    this.process.stdin.write(JSON.stringify(question) + '\n')
    const { value, done } = await this.lines.next()
    if (done) throw new Error(`${this.process.spawnfile} ended while it was asked for ${question.op}`)
    return JSON.parse(value)
  }

  async close() {
    this.process.stdin.end()
    await this.ended
  }
}

/** How long a whole process takes, as {ms}. */
export function whole(command, args, env) {
  return new Promise((done, fail) => {
    const start = process.hrtime.bigint()
    const p = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
    let words = ''
    p.stderr.on('data', (d) => { words += d })
    p.on('error', fail)
    p.on('exit', (code) => code === 0 ? done({ ms: Number(process.hrtime.bigint() - start) / 1e6 }) : fail(new Error(`${command} ended with ${code}: ${words.slice(0, 400)}`)))
  })
}

export function median(list) {
  const s = list.filter(Number.isFinite).sort((a, b) => a - b)
  return s.length ? (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2 : NaN
}

export const geometric = (list) => Math.exp(list.reduce((sum, v) => sum + Math.log(v), 0) / list.length)
