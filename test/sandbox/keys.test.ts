import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const HEX = 'f00d4321'.repeat(8)
const WORD = 'CanaryOfSandbox6T4w'
const REPORT = '/run/chain-agent-keys/report.json'

const KEYSTORE = JSON.stringify({
  ciphertext: HEX,
  checksum: HEX,
  cipher: { cipher_function: 'AES_128_CTR', params: { iv: HEX } },
  kdf: { kdf_name: 'scrypt', params: { salt: HEX } },
  hash: 'SHA256',
})

describe('the unit for key files in deploy/', () => {
  let node: SandboxedNode
  const shown = async (key: string, kind: string): Promise<string | undefined> => {
    const { value } = await node.look()
    return ['ok', 'missing', 'invalid', 'exposed', 'unverified'].find(
      (state) => value('chain_key_file_state', { key, kind, state }) === 1,
    )
  }

  /** A node as it is installed, and both units as the README installs them, the agent without the other at first. */
  beforeAll(async () => {
    node = await createNode('monad')
    await node.deploy('chain-agent.service', 'chain-agent-keys.service', 'chain-agent-keys.timer')
    await node.install('chain-agent')
    await writeFile(join(node.directory, 'keystore'), KEYSTORE)
    await node.shell(`
      useradd --create-home monad
      mkdir -p /opt/monad/backup /home/monad/monad-bft/config
      umask 077
      for key in secp bls; do
        cp ${node.directory}/keystore /home/monad/monad-bft/config/id-$key
        echo 'Keystore secret: ${HEX}' > /opt/monad/backup/$key-backup
      done
      echo 'KEYSTORE_PASSWORD=${WORD}' > /home/monad/.env
      echo 'Keystore password: ${WORD}' > /opt/monad/backup/keystore-password-backup
      chown -R monad: /home/monad
      chmod 700 /home/monad /opt/monad/backup
      chmod 755 /opt/monad
      sed 's/"state":{[^}]*},//; s/"prefix":"monad",//; s#^{#{"keys":{"interval":"500ms"},#' ${node.directory}/config.yaml > /etc/chain-agent/config.yaml
      chown root:chain-agent /etc/chain-agent /etc/chain-agent/config.yaml
      chmod 750 /etc/chain-agent; chmod 640 /etc/chain-agent/config.yaml`)
    await node.startServices('ledger-tail', 'bft')
    await node.startAgent()
    return node.down
  })

  it('is missed where it is not installed: nothing is known, and the log says what to do', async () => {
    const up = await node.present('chain_agent_collector_up', { collector: 'keys' })
    expect([up, await shown('secp', 'keystore')]).toEqual([0, undefined])
    expect(await node.log()).toContain('enable --now chain-agent-keys.timer')
  })

  it('tells the agent without rights what it sees', async () => {
    await node.shell(`sed -i 's#"500ms"}#"500ms","reportFile":"${REPORT}"}#' /etc/chain-agent/config.yaml`)
    await node.systemctl('start', 'chain-agent-keys.service')
    await node.systemctl('restart', 'chain-agent.service')
    for (const kind of ['keystore', 'backup'])
      for (const key of ['secp', 'bls', 'password'])
        await node.waitFor(1, 'chain_key_file_state', { key, kind, state: 'ok' })
    const written = Number(await node.shell('stat -c %Y /opt/monad/backup/bls-backup'))
    const { value } = await node.look()
    const told = value('chain_key_backup_timestamp_seconds', { key: 'bls' }) ?? Number.NaN
    expect(Math.floor(told)).toBe(written)
  })

  it('sees what goes wrong', async () => {
    await node.shell(`
      chmod 644 /opt/monad/backup/secp-backup
      echo 'Recovering secret from keystore file...' > /opt/monad/backup/bls-backup
      chown nobody /home/monad/.env
      rm /home/monad/monad-bft/config/id-secp`)
    await node.systemctl('start', 'chain-agent-keys.service')
    await node.waitFor(1, 'chain_key_file_state', { key: 'secp', kind: 'keystore', state: 'missing' })
    const all = ['secp backup', 'bls backup', 'password keystore', 'bls keystore']
    const states = await Promise.all(
      all.map(async (file) => {
        const [key = '', kind = ''] = file.split(' ')
        return shown(key, kind)
      }),
    )
    expect(states).toEqual(['exposed', 'invalid', 'exposed', 'ok'])
  })

  it('writes no secret and no path, readable only by the agent', async () => {
    const report = await node.shell(`cat ${REPORT}`)
    const status = await fetch(`http://127.0.0.1:${node.port}/api/v1/status`)
    const log = await node.log('chain-agent*')
    const emitted = [report, log, await status.text(), (await node.look()).text].join('\n')
    expect(emitted).toContain('the output of a failed recover: no secret')
    for (const text of [HEX, WORD, 'id-secp', 'id-bls', '.env', '-backup"', '/opt/monad'])
      expect(emitted.split(text), text).toHaveLength(1)
    const modes = await node.shell(`stat -c '%a %U' ${REPORT} /run/chain-agent-keys`)
    expect(modes.trim().split('\n')).toEqual(['640 chain-agent', '750 chain-agent'])
  })

  it('has the one right, and no other', async () => {
    const probe = `
      exec > /run/chain-agent-keys/probe
      grep -E '^(Cap(Eff|Bnd|Amb)|NoNewPrivs):' /proc/self/status
      id -un
      cat /opt/monad/backup/bls-backup > /dev/null && echo reads
      for place in /home/monad/x /opt/monad/backup/bls-backup /etc/x /var/lib/chain-agent/x; do
        : 2> /dev/null >> $place && echo writes $place
      done
      tail -n +3 /proc/self/net/dev | cut -d: -f1 | tr -d ' '`
    // Not below /tmp, which is another one in there.
    await writeFile(join(node.directory, 'probe.sh'), `${probe}\n`)
    await node.shell(`cp ${node.directory}/probe.sh /opt/probe.sh`)
    await node.writeUnit(
      'chain-agent-keys.service.d/probe.conf',
      `[Service]\nExecStart=\nExecStart=/bin/bash /opt/probe.sh\n`,
    )
    await node.systemctl('start', 'chain-agent-keys.service')
    await node.shell('rm -r /etc/systemd/system/chain-agent-keys.service.d && systemctl daemon-reload')
    const readSearch = '0000000000000004'
    expect((await node.shell('cat /run/chain-agent-keys/probe')).trim().split('\n')).toEqual([
      `CapEff:\t${readSearch}`,
      `CapBnd:\t${readSearch}`,
      `CapAmb:\t${readSearch}`,
      'NoNewPrivs:\t1',
      'chain-agent',
      'reads',
      'lo',
    ])
  })

  it('leaves unknown what a stranger who calls the command may not see', async () => {
    await node.shell('chmod 755 /opt/monad/backup')
    const asNobody = 'setpriv --reuid=nobody --regid=nogroup --clear-groups'
    const empty = '--config /opt/empty.yaml'
    await node.shell('touch /opt/empty.yaml')
    const stdout = await node.shell(`${asNobody} chain-agent keys-report --prefix monad ${empty}`)
    expect(stdout.match(/"state": .*/g)).toEqual([
      ...['null', 'null', 'null'].map((state) => `"state": ${state},`),
      ...['exposed', 'unverified', 'unverified'].map((state) => `"state": "${state}",`),
    ])
  })

  it('is called each minute, and systemd complains of neither unit', async () => {
    await node.systemctl('start', 'chain-agent-keys.timer')
    expect(await node.systemctl('is-active', 'chain-agent-keys.timer')).toBe('active')
    expect(await node.verify('chain-agent-keys.service', 'chain-agent-keys.timer')).toEqual([])
  })
})
