// docs/images/terminal.svg: the page of `chain-agent check` for a node whose consensus crashed half a minute ago. The readings
// are fixed; the code derives diagnosis and facts from them.
import { checkLines } from '../../.cache/modules/src/terminal/diagnosis.js'
import { printable } from '../../.cache/modules/src/terminal/io.js'
import { createStyle } from '../../.cache/modules/src/terminal/style.js'
import { indexSamples } from '../../.cache/modules/src/commands/shared/agent-snapshot.js'
import { createHealthMonitor } from '../../.cache/modules/src/health/monitor.js'
import { createView } from '../../.cache/modules/src/health/sections/section.js'
import { overviewRows } from '../../.cache/modules/src/health/sections/sections.js'
import { parsePrometheusText } from '../../.cache/modules/src/parsers/prometheus-text.js'

const AT_MS = Date.UTC(2026, 2, 1, 12, 0)
const AT = AT_MS / 1000
const CRASHED_MS = AT_MS - 34_000
const COLUMNS = 100
const IO = { stdout: {}, env: { COLUMNS: `${COLUMNS}`, FORCE_COLOR: '1', LANG: 'C.UTF-8' } }

const [COLUMN_PX, LINE_PX, MARGIN_PX] = [8.43, 19, 18]
/** SVG attributes by terminal colour code, readable on a dark background. */
const STYLES = {
  1: 'font-weight="bold"',
  2: 'fill="#9aa5b1"',
  31: 'fill="#ff7b72"',
  32: 'fill="#7ee787"',
  33: 'fill="#f2cc60"',
  35: 'fill="#d2a8ff"',
}

/** Metrics of the agent at that time. */
const METRICS = `
chain_agent_build_info{version="1"} 1
chain_rpc_up 1
chain_rpc_block_number{tag="latest"} 158620052
chain_rpc_block_timestamp_seconds{tag="latest"} ${AT - 34}
chain_rpc_last_advance_timestamp_seconds ${AT - 34}
chain_block_difference 86
chain_reference_up{reference="other-rpc"} 1
chain_reference_up{reference="query-service"} 1
chain_service_active{service="bft"} 0
chain_service_active{service="execution"} 1
chain_service_active{service="rpc"} 1
chain_service_active{service="ledger-tail"} 1
chain_service_active{service="otelcol"} 1
chain_service_expected{service="bft"} 1
chain_execution_storage_used_ratio 0.21
chain_storage_history_blocks{timeline="primary"} 642000
chain_package_info{version="0.16.1"} 1
chain_node_running_info{source="rpc",version="0.16.1"} 1
chain_host_clock_synchronized 1
chain_host_clock_offset_seconds 0.0002
chain_host_port_exposed{port="8080",protocol="tcp"} 0
chain_host_port_exposed{port="8889",protocol="tcp"} 0
chain_host_port_exposed{port="9143",protocol="tcp"} 0
${['secp', 'bls', 'password']
  .flatMap((key) => ['keystore', 'backup'].map((kind) => ({ key, kind })))
  .map(({ key, kind }) => `chain_key_file_state{key="${key}",kind="${kind}",state="ok"} 1`)
  .join('\n')}
`

/** Readings of collectors that the diagnosis needs in addition to metrics. */
const READINGS = {
  services: {
    services: [
      {
        service: 'bft',
        unit: 'chain-bft.service',
        activeState: 'failed',
        exit: { by: 'signal', status: 6n },
        exitedAt: CRASHED_MS,
      },
    ],
  },
  version: {
    forks: [
      {
        fork: { name: 'aurora', activationAt: AT_MS + 23 * 3_600_000 },
        checks: [{ check: 'version', ready: true }],
      },
    ],
  },
}

/** The rules have been evaluated at the crash and now. */
const healthOf = (samples) => {
  const monitor = createHealthMonitor(CRASHED_MS)
  for (const at of [CRASHED_MS, AT_MS]) monitor.evaluate(at, samples)
  return monitor.health()
}

const readReport = () => {
  const { samples } = parsePrometheusText(METRICS)
  const evidence = {
    at: AT_MS,
    origin: 'agent',
    prefix: 'chain',
    epochs: new Map(),
    devices: [],
    collectors: ['rpc', 'reference', 'storage', 'status', ...Object.keys(READINGS)].map((name) => ({
      name,
      enabled: true,
      up: true,
      error: null,
    })),
    readings: READINGS,
    known: indexSamples(samples),
    health: healthOf(samples),
  }
  const view = createView(evidence)
  const { diagnosis } = view
  const facts = overviewRows(view).filter(({ text }) => text !== 'unknown')
  return {
    text: checkLines({ diagnosis, setUp: [], facts }, createStyle(IO)).map(printable),
    exitCode: diagnosis.exitCode,
  }
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

// oxlint-disable-next-line no-control-regex -- escape sequences of the terminal
const CODE = /(\u001b\[[\d;]*m)/

/** A line of text as one `tspan` per style. */
const drawLine = (line, row) => {
  let codes = []
  const pieces = line.split(CODE).map((piece) => {
    const code = CODE.test(piece) ? piece.slice(2, -1) : undefined
    if (code === undefined) {
      const style = codes.map((one) => ` ${STYLES[one] ?? ''}`).join('')
      return piece === '' ? '' : `<tspan${style}>${escape(piece)}</tspan>`
    }
    // 39 ends a colour, 22 ends bold and dim.
    if (code === '39') codes = codes.filter((one) => Number(one) < 30)
    else if (code === '22') codes = codes.filter((one) => Number(one) > 2)
    else codes = [...codes, ...code.split(';')]
    return ''
  })
  const y = MARGIN_PX + LINE_PX * (row + 1)
  return `<text x="${MARGIN_PX}" y="${y}" xml:space="preserve">${pieces.join('')}</text>`
}

export const renderTerminal = () => {
  const { text, exitCode } = readReport()
  const lines = [
    '$ chain-agent check',
    ...text,
    // The exit status is part of the output.
    '$ echo $?',
    `${exitCode}`,
  ]
  const width = Math.ceil(COLUMNS * COLUMN_PX + 2 * MARGIN_PX)
  const height = LINE_PX * (lines.length + 1) + 2 * MARGIN_PX
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="chain-agent check on a node whose consensus has crashed">
<rect class="page" x="0" y="0" width="${width}" height="${height}" rx="8" fill="#161b22"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">
${lines.map(drawLine).join('\n')}
</g>
</svg>
`
}
