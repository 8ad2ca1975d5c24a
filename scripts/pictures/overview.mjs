// docs/images/overview.svg: the agent, what it reads and what scrapes it.
import { renderDiagram } from './diagram.mjs'

const [SOURCES_RIGHT, AGENT_LEFT, AGENT_RIGHT, OUTSIDE_LEFT] = [252, 436, 636, 772]

export const renderOverview = () =>
  renderDiagram({
    title: 'chain-agent on the host of a node',
    description:
      'The services of the node, systemd with its journal, and chain-agent run on one host. The agent polls the JSON-RPC and systemctl, follows the journal, reads key files and storage, and polls references on other hosts. Prometheus scrapes the agent. Arrows point from the client to the server.',
    size: [950, 410],
    boxes: [
      { kind: 'region', at: [10, 10], size: [646, 390], name: 'node host' },
      {
        at: [30, 50],
        size: [222, 62],
        name: 'chain-rpc',
        lines: ['JSON-RPC on port 8080'],
      },
      {
        at: [30, 128],
        size: [222, 80],
        name: 'systemd',
        lines: ['chain-bft, chain-execution, …', 'clean-up timer'],
      },
      {
        at: [30, 224],
        size: [222, 80],
        name: 'journald',
        lines: ['logs of the services;', 'starts and exits'],
      },
      {
        at: [30, 320],
        size: [222, 62],
        name: 'host',
        lines: ['storage, key files, /proc'],
      },
      {
        kind: 'own',
        at: [AGENT_LEFT, 50],
        size: [AGENT_RIGHT - AGENT_LEFT, 332],
        name: 'chain-agent',
      },
      {
        at: [AGENT_LEFT + 16, 88],
        size: [168, 80],
        name: 'collectors',
        lines: ['poll or follow,', 'one per data source'],
      },
      {
        at: [AGENT_LEFT + 16, 184],
        size: [168, 62],
        name: 'board',
        lines: ['current readings'],
      },
      {
        at: [AGENT_LEFT + 16, 262],
        size: [168, 104],
        name: 'HTTP',
        lines: ['/metrics', '/-/ready', '/api/v1/status'],
      },
      {
        at: [OUTSIDE_LEFT, 50],
        size: [168, 62],
        name: 'references',
        lines: ['RPC or query service'],
      },
      {
        at: [OUTSIDE_LEFT, 320],
        size: [168, 62],
        name: 'Prometheus',
        lines: ['alerts, dashboards'],
      },
    ],
    arrows: [
      { from: [AGENT_LEFT, 81], to: [SOURCES_RIGHT, 81], label: 'polls every 2 s' },
      { from: [AGENT_LEFT, 168], to: [SOURCES_RIGHT, 168], label: 'systemctl every 10 s' },
      { from: [AGENT_LEFT, 264], to: [SOURCES_RIGHT, 264], label: 'journalctl --follow' },
      { from: [AGENT_LEFT, 351], to: [SOURCES_RIGHT, 351], label: 'every 15 to 60 s' },
      { from: [AGENT_RIGHT, 81], to: [OUTSIDE_LEFT, 81], label: 'every 10 s' },
      { from: [OUTSIDE_LEFT, 351], to: [AGENT_RIGHT, 351], label: 'scrapes' },
    ],
  })
