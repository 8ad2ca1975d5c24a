import { fileURLToPath } from 'node:url'
import { makeCertificate } from './certificates.ts'
import type { SandboxedNode } from './sandboxed-node.ts'

const SERVER = fileURLToPath(new URL('../fixtures/bin/telegram.mjs', import.meta.url))
const HOST = 'api.telegram.org'
export const TOKEN = '1:token'

/** Puts a server in the place of the API of Telegram, in a sandbox with a network of its own, which trusts it from now on. */
export const startTelegram = async (host: SandboxedNode): Promise<void> => {
  const { cert, key } = await makeCertificate(host.directory, HOST)
  await host.writeUnit(
    'telegram.service',
    `[Service]\nExecStart=${process.execPath} ${SERVER} ${TOKEN} ${cert} ${key}\n`,
  )
  await host.systemctl('start', 'telegram')
  const trust = `echo 127.0.0.1 ${HOST} >> /etc/hosts; cat ${cert} >> /etc/ssl/certs/ca-certificates.crt`
  const { code, stderr } = await host.exec('sh', ['-euc', trust])
  if (code !== 0) throw new Error(stderr)
}
