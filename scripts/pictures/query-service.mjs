// docs/images/query-service.svg: the parts of `chain-agent serve-query` and their clients.
import { renderDiagram } from './diagram.mjs'

export const renderQueryService = () =>
  renderDiagram({
    title: 'A self-hosted query service on the host of a node',
    description:
      'The ingest of chain-agent serve-query polls the JSON-RPC of the node for finalized blocks, verifies their logs and parent hashes, and writes them to the store: DuckDB in the same process, or ClickHouse on other machines. The API reads the store and answers clients on port 8181. Prometheus scrapes port 9144. Arrows point from the client to the server.',
    size: [950, 316],
    boxes: [
      { kind: 'region', at: [10, 10], size: [680, 204], name: 'node host' },
      {
        at: [28, 76],
        size: [122, 98],
        name: 'chain-rpc',
        lines: ['finalized', 'blocks, logs', 'port 8080'],
      },
      {
        kind: 'own',
        at: [212, 34],
        size: [464, 162],
        name: 'chain-agent serve-query',
      },
      {
        at: [228, 76],
        size: [124, 98],
        name: 'ingest',
        lines: ['verifies logs', 'and parent', 'hashes'],
      },
      {
        at: [406, 76],
        size: [120, 98],
        name: 'store',
        lines: ['DuckDB;', 'contiguous,', 'whole blocks'],
      },
      { at: [580, 76], size: [82, 98], name: 'API', lines: ['/query', '/height', 'port 8181'] },
      {
        at: [770, 60],
        size: [170, 80],
        name: 'clients',
        lines: ['balances, query,', 'official clients'],
      },
      {
        at: [770, 148],
        size: [170, 62],
        name: 'Prometheus',
        lines: ['alerts, dashboards'],
      },
      {
        at: [346, 244],
        size: [240, 62],
        name: 'ClickHouse',
        lines: ['for stores beyond one machine'],
      },
    ],
    arrows: [
      { from: [228, 125], to: [150, 125], label: 'polls' },
      { from: [352, 125], to: [406, 125], label: 'writes' },
      { from: [580, 125], to: [526, 125], label: 'reads' },
      { from: [770, 101], to: [662, 101], label: 'HTTP', labelAt: [716, 94] },
      { from: [770, 185], to: [676, 185], label: 'port 9144', labelAt: [702, 178] },
      {
        from: [466, 174],
        to: [466, 244],
        label: 'optional',
        labelAt: [476, 234],
        isOptional: true,
      },
    ],
  })
