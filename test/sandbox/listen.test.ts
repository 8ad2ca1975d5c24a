import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/directory.ts'
import { must, run } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'

const describe = await requireRealPart('network namespaces', async () => {
  const { code, stderr } = await run('unshare', ['-nm', 'true'])
  return code === 0 ? { version: 'Linux' } : { missing: stderr.trim() }
})
const directory = await temporaryFolder()
const NODE = [process.execPath, resolve('dist/main.js')]

/** Starts an agent for each `listen` in a network of its own: statuses of 127.0.0.1 and [::1], and where `status` reads. */
const SCRIPT = String.raw`
  ip link set lo up
  echo "$1" > /proc/sys/net/ipv6/conf/all/disable_ipv6
  # As in most distributions: Node.js listens on the first one.
  printf '::1 localhost\n127.0.0.1 localhost\n' > hosts
  mount --bind hosts /etc/hosts
  main=("$2" "$3")
  shift 3
  for listen; do
    port=\${listen##*:}
    options=(--listen "$listen" --set "state.directory=$PWD/$port")
    "\${main[@]}" run "\${options[@]}" > "$port.log" 2>&1 &
    until grep -q Serving "$port.log"; do kill -0 $! || { cat "$port.log"; exit 1; }; sleep 0.1; done
    for host in 127.0.0.1 '[::1]'; do
      curl -gso answer -w '%{http_code} ' "http://$host:$port/metrics" || true
    done
    "\${main[@]}" status rpc "\${options[@]}" | grep -E '^From|^Read'
    kill $!
    wait $!
  done
`.replaceAll('\\$', '$')

const inNetwork = async (isIpv6Off: boolean, listen: readonly string[]): Promise<readonly string[]> => {
  const args = [isIpv6Off ? '1' : '0', ...NODE, ...listen]
  const output = await must(
    'unshare',
    ['-nmpf', '--kill-child', '--mount-proc', 'bash', '-euc', SCRIPT, 'bash', ...args],
    { cwd: directory },
  )
  return output.split('\n').map((line) => line.replace(/, \d+ s.*/, ''))
}

describe('what an agent listens on, Prometheus and commands reach', () => {
  it('with both IP versions', async () => {
    const listen = [':1001', '[::]:1002', '0.0.0.0:1003', 'localhost:1004', '127.0.0.1:1005', '[::1]:1006']
    expect(await inNetwork(false, listen)).toEqual([
      '200 200 From the agent at [::]:1001',
      '200 200 From the agent at [::]:1002',
      '200 000 From the agent at 0.0.0.0:1003',
      '200 000 From the agent at 127.0.0.1:1004',
      '200 000 From the agent at 127.0.0.1:1005',
      '000 200 From the agent at [::1]:1006',
    ])
  })

  it('with IPv6 off', async () => {
    expect(await inNetwork(true, [':1011', '[::]:1012', '0.0.0.0:1013', 'localhost:1014'])).toEqual([
      '200 000 From the agent at [::]:1011',
      '200 000 From the agent at [::]:1012',
      '200 000 From the agent at 0.0.0.0:1013',
      '200 000 From the agent at 127.0.0.1:1014',
    ])
  })
})
