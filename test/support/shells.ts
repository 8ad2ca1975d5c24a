import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianPackage } from './debian.ts'
import { must } from './programs.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

/** A search path with the built program, which the scripts call. */
const pathWith = async (folder: string): Promise<string> => {
  const program = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`
  await writeFile(join(folder, 'chain-agent'), program, { mode: 0o755 })
  return `${folder}:${process.env['PATH'] ?? ''}`
}

/** What bash offers for each command line, whose last word is the one that is being typed. */
export const askBash = async (
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
export const askZsh = async (folder: string, script: string, lines: readonly string[]): Promise<readonly string[]> => {
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

export const versionOfZsh = async (): Promise<string> => {
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
