import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { renderStatusLine } from '../../src/commands/demo/demo-line.ts'
import { renderConfig, renderWelcome } from '../../src/commands/demo/demo-texts.ts'
import { schema } from '../../src/config/schema.ts'

const place = {
  rpcUrl: 'http://127.0.0.1:4101',
  referenceUrl: 'http://127.0.0.1:4102',
  nativeUrl: 'http://127.0.0.1:4104',
  otelUrl: 'http://127.0.0.1:4105',
  binDirectory: '/tmp/rehearsal/bin',
  ownPublicKey: `02${'c'.repeat(64)}`,
  firstServiceBlock: 158_000_000,
  prefix: 'zephyr',
  nodeDirectory: '/tmp/rehearsal/home/zephyr/zephyr-bft',
  backupDirectory: '/tmp/rehearsal/backup',
  environmentFile: '/tmp/rehearsal/home/zephyr/.env',
  forksFile: '/tmp/rehearsal/forks.yaml',
  host: {
    procfs: '/tmp/rehearsal/host/proc',
    sysfs: '/tmp/rehearsal/host/sys',
    bootDirectory: '/tmp/rehearsal/host/boot',
    smartDirectory: '/tmp/rehearsal/host/smart',
    directories: { wal: '/tmp/rehearsal/home/zephyr/zephyr-bft/wal' },
  },
}

test('the demo writes a configuration that the agent takes', () => {
  const config = schema.parse(
    parse(renderConfig(place, { directory: '/tmp/rehearsal', port: 4103 })),
  )
  expect(config.listen).toEqual({ host: '127.0.0.1', port: 4103 })
  expect(config.references.map(({ kind }) => kind)).toEqual(['rpc', 'query'])
  expect(config.node).toEqual({
    publicKey: place.ownPublicKey,
    directory: place.nodeDirectory,
    backupDirectory: place.backupDirectory,
    environmentFile: place.environmentFile,
  })
  expect(config.host).toMatchObject(place.host)
  expect(config.version.forksFile).toBe(place.forksFile)
})

test('the demo says when it could not have the port that was asked for', () => {
  const welcome = {
    scenario: 'healthy',
    description: 'All is well.',
    logFile: '/tmp/rehearsal/agent.log',
    config: '/tmp/rehearsal/agent.yaml',
  }
  const text = (wanted: number) => renderWelcome({ ...welcome, place, pid: 77, port: 4103, wanted })
  expect(text(4100)).toContain('Port 4100 is taken; the agent has 4103.')
  expect(text(4103)).not.toContain('taken')
  expect(text(0)).not.toContain('taken')
})

test('the line of the demo shows what is known, and a dash for what is absent', () => {
  const metrics = [
    '# TYPE chain_rpc_up gauge',
    'chain_rpc_up 1',
    'chain_rpc_block_number{tag="latest"} 158727321',
    'chain_service_active{service="bft"} 1',
    'chain_service_active{service="rpc"} 0',
  ].join('\n')
  expect(renderStatusLine(metrics)).toBe(
    'height 158,727,321  difference -  rpc up 1  ledger -  active bft',
  )
})
