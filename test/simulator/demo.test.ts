import { expect, test } from 'vitest'
import { renderStatusLine } from '../../simulator/commands/demo/action.ts'
import { renderWelcome } from '../../simulator/commands/demo/demo-texts.ts'

const node = {
  rpcUrl: 'http://127.0.0.1:4101',
  referenceUrl: 'http://127.0.0.1:4102',
  nativeUrl: 'http://127.0.0.1:4104',
  otelUrl: 'http://127.0.0.1:4105',
  binDirectory: '/tmp/demo/bin',
  ownPublicKey: `02${'c'.repeat(64)}`,
  firstServiceBlock: 158_000_000,
  prefix: 'zephyr',
  nodeDirectory: '/tmp/demo/home/zephyr/zephyr-bft',
  backupDirectory: '/tmp/demo/backup',
  environmentFile: '/tmp/demo/home/zephyr/.env',
  forksFile: '/tmp/demo/forks.yaml',
  rootDirectory: '/tmp/demo/host',
  host: {
    procfs: '/tmp/demo/host/proc',
    sysfs: '/tmp/demo/host/sys',
    bootDirectory: '/tmp/demo/host/boot',
    smartDirectory: '/tmp/demo/host/smart',
    directories: { wal: '/tmp/demo/home/zephyr/zephyr-bft/wal' },
  },
}

test('the demo reports that the requested port is in use', () => {
  const welcome = {
    scenario: 'healthy',
    description: 'All is well.',
    logFile: '/tmp/demo/agent.log',
    config: '/tmp/demo/agent.yaml',
  }
  const text = (wanted: number) => renderWelcome({ ...welcome, node, pid: 77, port: 4103, wanted })
  expect(text(4100)).toContain('Port 4100 is in use; the agent listens on port 4103.')
  expect(text(4103)).not.toContain('in use')
  expect(text(0)).not.toContain('in use')
  // With --shell the settings are made, and Ctrl-C is for the commands in it.
  expect(text(0)).toMatch(/In a second terminal:[^]*export PATH=[^]*Ctrl-C/)
  const inShell = renderWelcome({ ...welcome, node, pid: 77, port: 4103, wanted: 0, shell: true })
  expect(inShell).toContain('In this shell:\n\n  chain-agent check\n')
  expect(inShell).not.toMatch(/second terminal|export|Ctrl-C/)
})

test('the status line shows a dash for an absent metric', () => {
  const metrics = [
    '# TYPE chain_rpc_up gauge',
    'chain_rpc_up 1',
    'chain_rpc_block_number{tag="latest"} 158727321',
    'chain_service_active{service="bft"} 1',
    'chain_service_active{service="rpc"} 0',
  ].join('\n')
  expect(renderStatusLine(metrics)).toBe('height 158,727,321  difference -  rpc up 1  ledger -  active bft')
})
