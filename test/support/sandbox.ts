import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive, must, run } from './programs.ts'
import type { Probe } from './real-parts.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIRECTORY = 'chain-sandbox-'
const SCRIPT = fileURLToPath(new URL('systemd-sandbox.sh', import.meta.url))
export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const INSIDE = { env: { PATH }, extendEnv: false } as const

export interface SandboxOptions {
  /** Name of the unit file → its text, which may name the directory of the sandbox. */
  units(directory: string): Readonly<Record<string, string>>
  /** Paths of the machine that are seen inside at the same place, live. */
  readonly binds: readonly string[]
  /** Given to every service. */
  readonly environment?: Readonly<Record<string, string>>
  /** Nothing but an own loopback, so that the usual ports are free; the network of the host without it. */
  readonly ownNetwork?: boolean
  /** A root file system with its own systemd; without it, that of the host. */
  readonly root?: string
}

/** A separate machine: real systemd, real journald. */
export const createSandbox = async (options: SandboxOptions) => {
  const directory = await mkdtemp(join(tmpdir(), `${DIRECTORY}${process.pid}-`))
  await chmod(directory, 0o755)
  const name = basename(directory).slice(DIRECTORY.length)
  const [units, journal] = [join(directory, 'units'), join(directory, 'journal')]
  const inside = ['exec', '-n', name, '--']

  const exec: typeof run = async (command, args, settings) =>
    run(SCRIPT, [...inside, command, ...args], { ...INSIDE, ...settings })
  /** Throws unless it succeeds; the answer without the last line end. */
  const systemctl = async (...args: readonly string[]): Promise<string> =>
    (await must(SCRIPT, [...inside, 'systemctl', ...args], INSIDE)).trimEnd()
  /** Runs a script as root; throws unless it succeeds, returns its output. */
  const shell = async (script: string, settings?: Parameters<typeof run>[2]): Promise<string> => {
    const { code, stdout, stderr } = await exec('sh', ['-euc', script], { timeout: 600_000, ...settings })
    if (code !== 0) throw new Error(`${script}\nended with ${code}\n${stdout}\n${stderr}`)
    return stdout.trimEnd()
  }
  /** A unit, or a drop-in: `name.service.d/any.conf`. */
  const writeUnit = async (unit: string, text: string): Promise<void> => {
    await mkdir(join(units, dirname(unit)), { recursive: true })
    await writeFile(join(units, unit), text)
    await systemctl('daemon-reload')
  }
  const halt = async (): Promise<void> => {
    await must(SCRIPT, ['down', '-n', name])
  }
  const up = async (): Promise<void> => {
    const places = ['-u', units, '-j', journal]
    const binds = [directory, process.execPath, ...options.binds].flatMap((path) => ['-b', path])
    const network = options.ownNetwork === true ? ['-N'] : []
    const root = options.root === undefined ? [] : ['-r', options.root]
    await must(SCRIPT, ['up', '-n', name, ...network, ...root, '-o', `${process.pid}`, ...places, ...binds])
  }

  await mkdir(join(units, 'service.d'), { recursive: true })
  await writeFile(join(units, 'service.d/environment.conf'), dropIn(options.environment ?? {}))
  for (const [unit, text] of Object.entries(options.units(directory))) {
    await writeFile(join(units, unit), text)
  }
  await up()

  return {
    /** Outlives a reboot; seen inside at the same place. */
    directory,
    journal,
    exec,
    systemctl,
    shell,
    /** What a unit has written to the journal. */
    log: async (unit = 'chain-agent.service') => shell(`journalctl -u '${unit}' -o cat --no-pager`),
    /** What `systemd-analyze verify` reports of these units; empty if nothing. */
    verify: async (...verified: readonly string[]): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await exec('systemd-analyze', ['verify', ...verified])
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('chain-agent'))
      return code === 0 ? lines : [`exit code ${code}`, ...lines]
    },
    /** Installs the program of the checkout, which must be among the binds, as `chain-agent`, and a user for its unit. */
    install: async (user: string): Promise<void> => {
      await shell(`
        useradd --system --no-create-home --shell /usr/sbin/nologin ${user}
        mkdir -p /opt/chain-agent /etc/chain-agent
        mount --bind ${ROOT} /opt/chain-agent
        printf '#!/bin/sh\\nexec /opt/node /opt/chain-agent/dist/main.js "$@"\\n' > /usr/local/bin/chain-agent
        chmod 755 /usr/local/bin/chain-agent
        cp ${process.execPath} /opt/node`)
    },
    /** Installs units of deploy/. */
    deploy: async (...names: readonly string[]): Promise<void> => {
      for (const unit of names) await writeUnit(unit, await readFile(join(ROOT, 'deploy', unit), 'utf8'))
    },
    writeUnit,
    reboot: async (): Promise<void> => {
      await halt()
      await up()
    },
    /** Removes every trace. */
    down: async (): Promise<void> => {
      await halt()
      await rm(directory, { recursive: true })
    },
  }
}

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>

const dropIn = (environment: Readonly<Record<string, string>>): string =>
  ['[Service]', ...Object.entries(environment).map(([key, value]) => `Environment="${key}=${value}"`)]
    .concat('')
    .join('\n')

export const probeSandbox = async (): Promise<Probe> => {
  const { code, stderr } = await run(SCRIPT, ['probe'])
  if (code !== 0) return { missing: stderr.trim().replace(/^.*unsupported: /, '') }
  const [, version = 'unknown'] = /^systemd (\d+)/.exec(await must('systemctl', ['--version'])) ?? []
  return { version: `systemd ${version}` }
}

/** Removes what runs that were killed have left behind. */
export const sweepSandboxes = async (): Promise<void> => {
  await must(SCRIPT, ['sweep'])
  for (const entry of await readdir(tmpdir())) {
    const [, pid] = /^chain-sandbox-(\d+)-/.exec(entry) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    await rm(join(tmpdir(), entry), { recursive: true, force: true })
  }
}
