import type { Argument, Command, Option } from 'commander'

/** What may be typed at the end of a command line. */
interface Candidates {
  /** Whether the shell adds names of files or directories, or no blank after a value. */
  readonly kind: 'words' | 'file' | 'directory' | 'unfinished'
  /** Those that begin as the last word does. */
  readonly words: readonly string[]
}

const services = async (): Promise<readonly string[]> =>
  Object.keys((await import('../../config/schema.ts')).schema.parse({}).services.units)

/** Values that only this program has, by the placeholder in the help: `<alert>`. */
const LISTS: Readonly<Record<string, (program: Command) => Promise<readonly string[]>>> = {
  alert: async () => (await import('../../sources/runbooks.ts')).runbooks.list(),
  section: async () => {
    const { ALL, ARGUMENTS, SECTIONS } = await import('../../health/sections/sections.ts')
    return [...new Set([...SECTIONS.map(({ name }) => name), ...(await services()), ARGUMENTS, ALL])]
  },
  'name|file': async () => {
    const { listScenarios } = await import('../../../simulator/scenario/scenario.ts')
    return (await listScenarios()).map(({ name }) => name)
  },
  'key=value': async () => (await import('../../config/schema.ts')).keys.map(({ path }) => `${path}=`),
  service: services,
  services,
  command: (program) => Promise.resolve(namesOf(program)),
  collector: async () => Object.keys((await import('../../collectors/index.ts')).COLLECTORS),
  level: async () => {
    const { schema } = await import('../../config/schema.ts')
    return schema.shape.log.def.innerType.shape.level.def.innerType.options
  },
}

const namesOf = ({ commands }: Command): readonly string[] => commands.map((one) => one.name())

const KINDS: Readonly<Record<string, Candidates['kind']>> = {
  file: 'file',
  'file|-': 'file',
  'name|file': 'file',
  path: 'file',
  dir: 'directory',
  directory: 'directory',
  'key=value': 'unfinished',
}

/** `typed`: the words after the name of the program, the last as far as it is typed. Bash makes a word of each `=`. */
export const complete = async (program: Command, typed: readonly string[]): Promise<Candidates> => {
  const words = typed
    .join('\n')
    .replaceAll(/\n=(?:\n|$)/g, '=')
    .split('\n')
    .flatMap((word) => /^(--[\w.-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word])
  const current = words.pop() ?? ''
  const { kind, words: all } = await valuesAt(placeOf(program, words), current, program)
  // Where `=` does not end a word of the shell, the word includes the option.
  const [, option = ''] = /^(--[\w.-]+=)/.exec(typed.at(-1) ?? '') ?? []
  return { kind, words: all.filter((word) => word.startsWith(current)).map((word) => `${option}${word}`) }
}

interface Place {
  readonly command: Command
  /** The option whose value is typed. */
  readonly option: Option | undefined
  /** The number of arguments before the word. */
  readonly given: number
}

const placeOf = (program: Command, before: readonly string[]): Place => {
  let place: Place = { command: program, option: undefined, given: 0 }
  for (const word of before) {
    const { command, option, given } = place
    const isFlag = /^--?[a-z]/i.test(word)
    const next = given === 0 ? command.commands.find((one) => one.name() === word) : undefined
    if (isFlag) place = { ...place, option: command.options.find((one) => isNamed(one, word) && takesValue(one)) }
    else if (option) place = { ...place, option: undefined }
    else place = next ? { command: next, option: undefined, given: 0 } : { ...place, given: given + 1 }
  }
  return place
}

const isNamed = ({ short, long }: Option, flag: string): boolean => short === flag || long === flag

const takesValue = ({ required, optional }: Option): boolean => required || optional

const valuesAt = async ({ command, option, given }: Place, current: string, program: Command): Promise<Candidates> => {
  if (option) return valuesOf(/[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1] ?? '', option.argChoices, program)
  if (current.startsWith('-')) {
    const flags = command.options.flatMap(({ short, long }) => [short, long])
    return { kind: 'words', words: [...flags, '-h', '--help'].filter((flag) => flag !== undefined) }
  }
  if (command.commands.length > 0) return { kind: 'words', words: given === 0 ? namesOf(command) : [] }
  const last = command.registeredArguments.at(-1)
  const argument: Argument | undefined = command.registeredArguments[given] ?? (last?.variadic ? last : undefined)
  return valuesOf(argument?.name() ?? '', argument?.argChoices, program)
}

const valuesOf = async (
  placeholder: string,
  choices: readonly string[] | undefined,
  program: Command,
): Promise<Candidates> => {
  const name = placeholder.toLowerCase()
  const words = choices ?? (await LISTS[name]?.(program)) ?? []
  return { kind: (choices ? undefined : KINDS[name]) ?? 'words', words }
}

/** It calls the program, and has nothing of a version. The first line of the output is the kind. */
export const SCRIPT = String.raw`# bash completion of chain-agent: chain-agent completion bash
_chain_agent() {
  local current=${'$'}{COMP_WORDS[COMP_CWORD]} found
  mapfile -t found < <(chain-agent completion bash -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  COMPREPLY=("${'$'}{found[@]:1}")
  [[ $current == = ]] && current=''
  case ${'$'}{found[0]} in
    unfinished) compopt -o nospace 2> /dev/null ;;
    file) mapfile -t -O ${'$'}{#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
    directory) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  [[ ${'$'}{found[0]} == file || ${'$'}{found[0]} == directory ]] && compopt -o filenames 2> /dev/null
  return 0
}

complete -F _chain_agent chain-agent
`
