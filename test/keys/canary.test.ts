import { execa } from 'execa'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { createIdentity, probeAge } from '../support/age.ts'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench, KEY_TYPES, PASSWORD, secretOf } from './bench.ts'

/** What must not be found in any form: secrets, the password, and words of the password. */
const CANARIES = [...KEY_TYPES.map((type) => secretOf(type)), PASSWORD, PASSWORD.split(' ')[1] ?? '']

const formsOf = (canary: string): readonly Buffer[] => {
  const bytes = Buffer.from(canary)
  const isHex = /^[0-9a-f]+$/.test(canary)
  const plain = [bytes, ...(isHex ? [Buffer.from(canary, 'hex')] : [])]
  const words = [
    canary,
    canary.toUpperCase(),
    canary.toLowerCase(),
    ...plain.flatMap((one) => [
      one.toString('hex'),
      one.toString('hex').toUpperCase(),
      ...[0, 1, 2].flatMap((shift) =>
        (['base64', 'base64url'] as const).map((code) =>
          Buffer.concat([Buffer.alloc(shift), one])
            .toString(code)
            .slice(shift === 0 ? 0 : 4, -4),
        ),
      ),
    ]),
    encodeURIComponent(canary),
  ]
  const wide = Buffer.from(canary, 'utf16le')
  return [...plain, ...words.map((word) => Buffer.from(word)), wide, Buffer.from(wide).swap16()]
}
const FORMS = CANARIES.flatMap(formsOf)

const isLeaky = (emitted: Buffer | string): boolean => {
  const bytes = Buffer.from(emitted)
  return FORMS.some((form) => bytes.includes(form))
}

let bench: Bench
let seen = ''
beforeEach(async () => {
  bench = await createBench()
  seen = join(bench.folder, 'seen')
  await mkdir(seen)
  await mkdir(join(bench.folder, 'home'))
  for (const shell of ['bash', 'zsh']) {
    await writeFile(join(bench.folder, `home/.${shell}_history`), 'ls\n')
  }
  await watched(join(bench.folder, 'bin'))
})

/** Wraps the tool: it first records its environment, and the environment and arguments of all its parents. */
const watched = async (bin: string): Promise<void> => {
  await rename(join(bin, 'chain-keystore'), join(bin, 'behind'))
  const script = `#!/bin/sh
tr '\\0' '\\n' < /proc/self/environ > ${seen}/environment.$$
pid=$PPID
while [ "$pid" -gt 1 ]; do
  cat /proc/$pid/environ /proc/$pid/cmdline >> ${seen}/parents.$$
  grep -a 'Max core' /proc/$pid/limits >> ${seen}/limits.$$
  pid=$(awk '/^PPid/ { print $2 }' /proc/$pid/status)
  [ -e ${seen}/top ] && [ "$pid" = "$(cat ${seen}/top)" ] && break
done
exec ${join(bin, 'behind')} "$@"
`
  await writeFile(join(bin, 'chain-keystore'), script)
  await chmod(join(bin, 'chain-keystore'), 0o755)
}

const start = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  execa(
    'sh',
    // Allow core dumps of any size, and a working directory to write them to.
    [
      '-c',
      'ulimit -c unlimited; cd "$0" && exec "$@"',
      bench.folder,
      ...bench.commandLine([...argv, '--log-level', 'trace']),
    ],
    {
      // The tool does not inherit the password of another node.
      env: { ...bench.env, HOME: join(bench.folder, 'home'), KEYSTORE_PASSWORD: 'Other canary 5Kx', ...env },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: 240_000,
    },
  )

/** The files that may contain a secret: backups, earlier backups, and the files with the password. */
const MEANT = /^(?:backup\/(?:secp|bls|keystore-password)-backup(?:\.\d{14}\.bak)?|\.env)$/

const leakyFiles = async (): Promise<readonly string[]> => {
  const names = await readdir(bench.folder, { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => isLeaky(readFileSync(path)))
    .map((path) => path.slice(bench.folder.length + 1))
    .filter((name) => !MEANT.test(name))
}

/** About twenty commands, one after another. */
const TIMEOUT_MS = 180_000

const RESTORE = ['restore', '--yes', '--while-running']
const hasAge = await probeAge().then(
  () => true,
  () => false,
)

it(
  'no canary is found after commands that succeed and commands that fail',
  async () => {
    const identity = join(bench.folder, 'identity')
    const recipient = hasAge ? await createIdentity(identity) : `age1${'q'.repeat(58)}`
    const vault = join(bench.folder, 'vault')
    await mkdir(vault)
    const commands = [
      ['backup'],
      ['backup', '--type', 'password', '--json'],
      ['verify'],
      ['verify', '--json'],
      [...RESTORE, '--dry-run', '--json'],
      RESTORE,
      [...RESTORE, '--json'],
      ['export', '--recipient', recipient, '--output-directory', vault],
      ['off-node', 'in the safe'],
      ...(hasAge ? [[...RESTORE, '--from', vault, '--identity', identity]] : []),
    ]
    const run = async (argv: readonly string[], env: Readonly<Record<string, string>>) => {
      const { exitCode, stdout, stderr } = await start(argv, env)
      expect(isLeaky(stdout + stderr), `${argv.join(' ')}\n${stdout}\n${stderr}`).toBe(false)
      return exitCode
    }
    for (const [at, argv] of commands.entries()) {
      const env = at % 2 === 0 ? { NO_COLOR: '1' } : { FORCE_COLOR: '1', NODE_DEBUG: 'fs' }
      expect(await run(argv, env), argv.join(' ')).toBe(0)
    }
    const damaged = join(bench.folder, 'backup/secp-backup')
    await writeFile(damaged, `Keystore secret: ${secretOf('secp')} ${secretOf('bls')} x\n`)
    expect(await run([...RESTORE, '--from', damaged, '--type', 'secp'], {})).toBe(1)
    expect(await run(['verify'], {})).toBe(1)
    await writeFile(bench.keystore('secp'), `{"ciphertext": "${secretOf('secp')}`)
    expect(await run(['backup'], {})).toBe(1)
    await writeFile(bench.keystore('secp'), '{}')
    // A tool that fails and prints its arguments and a secret.
    const talk = `"${bench.folder}/bin/told" "$@"; echo "error: $*" >&2; echo "${secretOf('bls')}" >&2; exit 1`
    await rename(join(bench.folder, 'bin/behind'), join(bench.folder, 'bin/told'))
    await writeFile(join(bench.folder, 'bin/behind'), `#!/bin/sh\n${talk}\n`, { mode: 0o755 })
    for (const argv of [['backup'], ['verify', '--json'], [...RESTORE, '--type', 'bls']]) {
      expect(await run(argv, {}), argv.join(' ')).toBe(1)
    }
    await rename(join(bench.folder, 'bin/told'), join(bench.folder, 'bin/behind'))
    expect(await leakyFiles()).toEqual([])
    // Each call of the tool has recorded its environment.
    const looked = await readdir(seen)
    expect(looked.filter((name) => name.startsWith('environment')).length).toBeGreaterThan(10)
    const environments = looked.filter((name) => name.startsWith('environment'))
    for (const name of environments) {
      const names = (await readFile(join(seen, name), 'utf8')).match(/^[^=\n]+(?==)/gm) ?? []
      // Ignore the variables that a shell sets itself.
      expect(names.filter((one) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(one)).toSorted()).toEqual([
        'HOME',
        'LANG',
        'PATH',
        'SYSTEMD_COLORS',
        'TZ',
      ])
    }
  },
  TIMEOUT_MS,
)

/** Processes other than the tool, which takes the secret as an argument. */
const leakyProcesses = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [words, environment] = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`))
        const text = words?.toString('utf8').replaceAll('\0', ' ') ?? ''
        if (text.includes('--keystore-path')) return isLeaky(environment ?? '') ? [pid] : []
        return isLeaky(words ?? '') || isLeaky(environment ?? '') ? [`${pid} ${text}`] : []
      } catch {
        // The process has ended.
        return []
      }
    })

it('no canary is found after a crash with a secret in memory: no core, no process, no file', async () => {
  // The command has the secret and waits for the tool.
  const behind = join(bench.folder, 'bin/behind')
  await rename(behind, `${behind}.real`)
  const waiting = `case $1 in import) : > ${seen}/waiting; exec sleep 30;; esac`
  await writeFile(behind, `#!/bin/sh\n${waiting}\nexec ${behind}.real "$@"\n`, { mode: 0o755 })
  const child = start([...RESTORE, '--type', 'secp'])
  await eventually(() => readdir(seen), /waiting/, { every: 20 })
  expect(leakyProcesses()).toEqual([])
  child.kill('SIGABRT')
  const { signal, stdout, stderr } = await child
  expect(signal).toBe('SIGABRT')
  expect(isLeaky(stdout + stderr)).toBe(false)
  const names = await readdir(bench.folder)
  expect(names.filter((name) => name.startsWith('core'))).toEqual([])
  // Independent of where this machine writes cores: the command sets its own limits first.
  const limits = (await readdir(seen)).filter((one) => one.startsWith('limits'))
  expect(limits.length).toBeGreaterThan(0)
  for (const name of limits) {
    const [own] = (await readFile(join(seen, name), 'utf8')).split('\n')
    expect(own).toMatch(/^Max core file size +1 +1 +bytes/)
  }
  expect(await leakyFiles()).toEqual([])
})
