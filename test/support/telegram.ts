import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { makeCertificate } from './certificates.ts'
import type { SandboxedNode } from './sandboxed-node.ts'

const SERVER = fileURLToPath(new URL('../fixtures/bin/telegram.mjs', import.meta.url))
const HOST = 'api.telegram.org'
export const TOKEN = '1:token'

/**
 * Puts a server in the place of the API of Telegram, in a sandbox with a network of its own, which trusts it from now on.
 * Returns what reads the texts of the messages so far.
 */
export const startTelegram = async (host: SandboxedNode): Promise<() => Promise<readonly string[]>> => {
  const log = join(host.directory, 'telegram.log')
  await writeFile(log, '', { mode: 0o666 })
  const { cert, key } = await makeCertificate(host.directory, HOST)
  await host.writeUnit(
    'telegram.service',
    `[Service]\nExecStart=${process.execPath} ${SERVER} ${TOKEN} ${cert} ${key} ${log}\n`,
  )
  await host.systemctl('start', 'telegram')
  const trust = `echo 127.0.0.1 ${HOST} >> /etc/hosts; cat ${cert} >> /etc/ssl/certs/ca-certificates.crt`
  const { code, stderr } = await host.exec('sh', ['-euc', trust])
  if (code !== 0) throw new Error(stderr)
  return async () => {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '')
    return lines.map((line) => z.string().parse(JSON.parse(line)))
  }
}
