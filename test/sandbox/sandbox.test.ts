import { access } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { requireSandbox } from '../support/real-parts.ts'
import { createSandbox } from '../support/sandbox.ts'

const describe = await requireSandbox()

describe('the sandbox itself', () => {
  it('runs units, keeps the journal over a reboot and leaves no trace', async () => {
    const sandbox = await createSandbox({
      units: () => ({ 'word.service': '[Service]\nType=oneshot\nExecStart=/bin/echo ${WORD}\nSyslogIdentifier=w\n' }),
      binds: [],
      environment: { WORD: 'abracadabra' },
    })
    const words = async (): Promise<string> => {
      await sandbox.exec('journalctl', ['--sync'])
      const args = ['--merge', '-o', 'cat', '-u', 'word.service', 'SYSLOG_IDENTIFIER=w']
      return (await sandbox.exec('journalctl', args)).stdout
    }
    try {
      await sandbox.systemctl('start', 'word.service')
      expect(await words()).toBe('abracadabra')
      await sandbox.reboot()
      await sandbox.systemctl('start', 'word.service')
      expect(await words()).toBe('abracadabra\nabracadabra')
      expect(JSON.parse((await sandbox.exec('journalctl', ['--list-boots', '-o', 'json'])).stdout)).toHaveLength(2)
    } finally {
      await sandbox.down()
    }
    await expect(access(sandbox.directory)).rejects.toThrow('ENOENT')
  })
})
