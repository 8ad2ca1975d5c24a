// Draws docs/terminal.svg: what `check` says of a node whose consensus crashed half a minute ago.
// Run it after a build: node scripts/terminal-picture.mjs
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { placeSchema, renderConfig } from '../dist/cli/demo-texts.js'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const FILE = fileURLToPath(new URL('../docs/terminal.svg', import.meta.url))
const COLUMNS = 100

const [COLUMN_PX, LINE_PX, MARGIN_PX] = [8.4, 19, 18]
/** What the terminal's codes mean, readable on the dark ground. */
const STYLES = {
  1: 'font-weight="bold"',
  2: 'fill="#9aa5b1"',
  31: 'fill="#ff7b72"',
  32: 'fill="#7ee787"',
  33: 'fill="#f2cc60"',
  35: 'fill="#d2a8ff"',
}

const report = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'chain-picture-'))
  const args = ['simulate', '--json', '--scenario', 'service-crash', '--at', '60s']
  const node = spawn(process.execPath, [MAIN, ...args, '--directory', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(createInterface({ input: node.stdout }), 'line')
    const place = placeSchema.parse(JSON.parse(line))
    const config = join(directory, 'agent.yaml')
    writeFileSync(config, renderConfig(place, { directory, port: 1 }))
    const env = {
      PATH: place.binDirectory,
      FORCE_COLOR: '1',
      COLUMNS: `${COLUMNS}`,
      LANG: 'C.UTF-8',
      CHAIN_AGENT_CONFIG: config,
    }
    // It ends with 2, which is an answer.
    return await new Promise((resolve) => {
      execFile(process.execPath, [MAIN, 'check'], { env }, (_, stdout) => resolve(stdout))
    })
  } finally {
    node.kill()
    await once(node, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
}

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

// oxlint-disable-next-line no-control-regex -- the terminal's codes
const CODE = /(\u001b\[[\d;]*m)/

/** A line of text as pieces of one look each. */
const drawLine = (line, row) => {
  let codes = []
  const pieces = line.split(CODE).map((piece) => {
    const code = CODE.test(piece) ? piece.slice(2, -1) : undefined
    if (code === undefined) {
      const look = codes.map((one) => STYLES[one] ?? '').join(' ')
      return piece === '' ? '' : `<tspan ${look}>${escape(piece)}</tspan>`
    }
    // 39 ends a colour, 22 what is bold or dim.
    if (code === '39') codes = codes.filter((one) => Number(one) < 30)
    else if (code === '22') codes = codes.filter((one) => Number(one) > 2)
    else codes = [...codes, ...code.split(';')]
    return ''
  })
  const y = MARGIN_PX + LINE_PX * (row + 1)
  return `<text x="${MARGIN_PX}" y="${y}" xml:space="preserve">${pieces.join('')}</text>`
}

const lines = [
  '$ chain-agent check',
  ...(await report()).trimEnd().split('\n'),
  // The exit code is the other half of the answer.
  '$ echo $?',
  '2',
]
const width = Math.ceil(COLUMNS * COLUMN_PX + 2 * MARGIN_PX)
const height = LINE_PX * (lines.length + 1) + 2 * MARGIN_PX
writeFileSync(
  FILE,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="chain-agent check on a node whose consensus has crashed">
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">
${lines.map(drawLine).join('\n')}
</g>
</svg>
`,
)
