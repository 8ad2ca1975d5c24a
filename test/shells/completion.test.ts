import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { must } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { temporaryFolder } from '../support/directory.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianPackage } from '../support/debian.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

/** A search path with the built program, which the scripts call. */
const pathWith = async (folder: string): Promise<string> => {
  const program = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`
  await writeFile(join(folder, 'chain-agent'), program, { mode: 0o755 })
  return `${folder}:${process.env['PATH'] ?? ''}`
}

/** What bash offers for each command line, whose last word is the one that is being typed. */
const askBash = async (
  folder: string,
  script: string,
  lines: readonly (readonly string[])[],
): Promise<readonly string[]> => {
  const tries = lines.map(
    (words) => `COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); ${CALL}`,
  )
  const env = { PATH: await pathWith(folder) }
  const out = await must('bash', ['--norc', '--noprofile', '-c', [script, ...tries].join('\n')], { env })
  return out.split('\n')
}

/** The completion function that bash has registered. */
const CALL = '$(complete -p chain-agent | sed "s/.*-F \\([^ ]*\\).*/\\1/"); echo "${COMPREPLY[*]}"'

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

/** The line after completion by zsh on a terminal. */
const askZsh = async (folder: string, script: string, lines: readonly string[]): Promise<readonly string[]> => {
  await writeFile(join(folder, '_chain-agent'), script)
  await writeFile(join(folder, 'driver'), DRIVER)
  const [programs, shared] = await Promise.all([debianPackage('zsh'), debianPackage('zsh-common')])
  const { zsh, modules } = await partsOf(programs)
  const functions = await must('find', [join(shared, 'usr/share/zsh/functions'), '-type', 'd'])
  const out = await must(zsh, ['-f', join(folder, 'driver'), ...lines], {
    env: {
      PATH: await pathWith(folder),
      TERM: 'dumb',
      ZSH: zsh,
      MODULES: modules,
      FUNCTIONS: functions.replaceAll('\n', ' '),
      SCRIPT_FOLDER: folder,
    },
    timeout: 240_000,
  })
  return out.split('\n')
}

const partsOf = async (programs: string) => {
  const zle = (await must('find', [programs, '-path', '*/zsh/zle.so'])).trim()
  return { zsh: join(programs, 'bin/zsh'), modules: zle.replace(/\/zsh\/zle\.so$/, '') }
}

const versionOfZsh = async (): Promise<string> => {
  const { zsh } = await partsOf(await debianPackage('zsh'))
  return /\d[\d.]*/.exec(await must(zsh, ['--version']))?.[0] ?? 'unknown'
}

/** A key of its own completes the line, prints it, and empties it. */
const DRIVER = String.raw`
module_path=($MODULES)
zmodload zsh/zpty
zpty shell $ZSH -f -i
zpty -w shell "module_path=($MODULES); fpath=($FUNCTIONS $SCRIPT_FOLDER); PS1=''
autoload -Uz compinit; compinit -u -D; setopt no_auto_list
probe() { zle complete-word; print -r -- \"GOT<\$BUFFER>\"; BUFFER='' }
zle -N probe; bindkey '^T' probe; print READ''Y"
zpty -r shell text '*READY*'
for typed in "$@"; do
  zpty -w -n shell "chain-agent $typed"$'\x14'
  zpty -r shell text '*GOT<*>*'
  text=${'$'}{text##*GOT<}
  print -r -- "${'$'}{text%%>*}"
done
zpty -d shell
`

const probe = async (): Promise<Probe> => {
  try {
    const bash = await must('bash', ['-c', 'echo $BASH_VERSION'])
    return { version: `bash ${bash.trim()}, zsh ${await versionOfZsh()}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

const describe = await requireRealPart('shells', probe)

const folder = await temporaryFolder()

/** test/cli/completion.test.ts has what the program offers; here is what the scripts make of it. */
const BY_BASH: readonly (readonly [line: string, offered: string | RegExp])[] = [
  ['che', 'check'],
  // Bash cuts the word at "=".
  ['maintenance start --reason = up', 'upgrade'],
  ['maintenance start --reason =', 'upgrade hardware network other'],
  ['parse chrony /proc/self/stat', /\/proc\/self\/stat \/proc\/self\/statm|\/proc\/self\/status/],
  ['check --config = /proc/self/mountst', '/proc/self/mountstats'],
  ['demo --scenario stal', 'stalled'],
  ['simulate --directory /proc/self/task', '/proc/self/task'],
  ['check --set rpc.int', 'rpc.interval='],
  ['invalid ', ''],
]

describe('bash', () => {
  it('offers what may come next', async () => {
    const { out } = await cli(['completion', 'bash'])
    const lines = BY_BASH.map(([line]) => ['chain-agent', ...line.split(' ')])
    const offered = await askBash(folder, out, lines)
    for (const [index, [line, expected]] of BY_BASH.entries()) {
      expect(offered[index], line).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
    }
  })
})

const BY_ZSH: readonly (readonly [typed: string, completed: string])[] = [
  ['che', 'check '],
  ['maintenance start --reason up', 'maintenance start --reason upgrade '],
  ['maintenance start --reason=up', 'maintenance start --reason=upgrade '],
  ['check --config /proc/self/mountst', 'check --config /proc/self/mountstats '],
  ['check --config=/proc/self/mountst', 'check --config=/proc/self/mountstats '],
  // Both begin so: the line goes as far as they agree.
  ['demo --scenario state', 'demo --scenario statesync'],
  ['check --set rpc.int', 'check --set rpc.interval='],
  ['invalid', 'invalid'],
]

describe('zsh', () => {
  it('completes what was typed', async () => {
    const { out } = await cli(['completion', 'zsh'])
    const typed = BY_ZSH.map(([line]) => line)
    const completed = await askZsh(folder, out, typed)
    for (const [index, [line, expected]] of BY_ZSH.entries()) {
      expect(completed[index], line).toBe(`chain-agent ${expected}`)
    }
  })
})
