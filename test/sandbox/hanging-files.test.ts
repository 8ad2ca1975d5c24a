import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/directory.ts'
import { must, run } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'

const describe = await requireRealPart('file systems that hang', async () => {
  const { code, stderr } = await run('unshare', ['-nm', 'bash', '-c', '. /dev/stdin <<< "exec 3<>/dev/fuse"'])
  return code === 0 ? { version: 'FUSE' } : { missing: stderr.trim() }
})
const directory = await temporaryFolder()
const MAIN = [process.execPath, resolve('dist/main.js')]

const inNamespace = async (script: string): Promise<readonly string[]> => {
  const args = ['-nmpf', '--kill-child', '--mount-proc', 'bash', '-euc', script, 'bash', ...MAIN]
  return (await must('unshare', args, { cwd: directory })).trim().split('\n')
}

/** The kernel waits for the answer of the process that holds the descriptor: this shell, which never reads it. */
const MOUNT = `
  mkdir -p hanging
  exec 3<>/dev/fuse
  mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hanging hanging
`

describe('files that hang', () => {
  it('block neither metrics, gzip included, nor the end of the agent', async () => {
    const output = await inNamespace(`${MOUNT}
      ip link set lo up
      options=(--listen 127.0.0.1:1001 --set "state.directory=$PWD/state" --set "node.directory=$PWD/hanging" --set "node.backupDirectory=$PWD")
      "$@" run "\${options[@]}" --set prefix=chain > log 2>&1 3>&- &
      # The backups are on another file system than the keystores.
      until curl -gs http://127.0.0.1:1001/metrics | grep -q 'key="secp",kind="backup",state="missing"} 1'; do
        kill -0 $!
        sleep 0.1
      done
      for _ in 1 2 3 4 5; do
        curl -gs --compressed -o page -w '%{http_code} %header{content-encoding} ' http://127.0.0.1:1001/metrics
      done
      echo
      ! grep 'key="secp",kind="keystore"' page
      grep -o 'hanging.*the file system has not answered within 5s' log | head -1
      kill $!
      wait $! || echo "ended by $(kill -l $?)"
    `)
    expect(output).toEqual(['200 gzip '.repeat(5), expect.stringMatching(/answered within 5s/), 'ended by TERM'])
  })

  it('end a command with the reason', async () => {
    const output = await inNamespace(`${MOUNT}
      "$@" init --prefix chain --config /dev/null -o hanging/agent.yaml 2>&1 3>&- || echo "ended by $(kill -l $?)"
    `)
    expect(output).toEqual([
      'Could not write hanging/agent.yaml: the file system has not answered within 5s',
      '  what to do: use sudo, or name another file with --output',
      'ended by TERM',
    ])
  })

  it('a FIFO without a writer is no file to write, and a command that reads it ends when it is stopped', async () => {
    const output = await inNamespace(`
      mkfifo fifo
      "$@" init --prefix chain --config /dev/null -o fifo 2>&1 || echo "exit $?"
      for command in 'ledger --file fifo' 'monlog --file fifo' 'parse ledger-tail fifo'; do
        "$@" $command 2>&1 &
        until ls -l /proc/$!/fd | grep -q fifo; do kill -0 $!; sleep 0.1; done
        kill $!
        wait $! || echo "$command: exit $?"
      done
    `)
    expect(output).toEqual([
      'Could not write fifo: it is not a regular file',
      '  what to do: use sudo, or name another file with --output',
      'exit 1',
      'Interrupted before there was a result.',
      'ledger --file fifo: exit 1',
      'Interrupted before there was a result.',
      'monlog --file fifo: exit 2',
      'Could not read fifo: it was interrupted',
      'parse ledger-tail fifo: exit 1',
    ])
  })
})
