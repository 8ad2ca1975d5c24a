import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError, excerpt } from '../../core/errors.ts'
import { closestMatch } from '../../core/suggest.ts'
import { parseScenario, type Scenario } from './scenario.ts'

const SUFFIX = '.scenario'
/** Two levels up is the root of the package, from the sources and from the build alike. */
const folder = fileURLToPath(new URL('../../../scenarios/', import.meta.url))

/** The scenarios that come with the program, in order of their names. */
export const listScenarios = async (): Promise<readonly Scenario[]> =>
  await Promise.all(
    (await readNames()).map(async (name) => await readScenario(`${folder}${name}${SUFFIX}`)),
  )

/** One of ours by its name, or a file of the user's own: what holds a `/` or ends in `.scenario`. */
export const loadScenario = async (nameOrFile: string): Promise<Scenario> => {
  if (nameOrFile.includes('/') || nameOrFile.endsWith(SUFFIX)) return await readScenario(nameOrFile)
  const names = await readNames()
  if (names.includes(nameOrFile)) return await readScenario(`${folder}${nameOrFile}${SUFFIX}`)
  const meant = closestMatch(nameOrFile, names)
  throw new ConfigError(
    `unknown scenario "${excerpt(nameOrFile)}"${meant === undefined ? '' : `; did you mean ${meant}?`} ` +
      `--list prints all of them; a file of your own ends in ${SUFFIX}`,
  )
}

const readNames = async (): Promise<readonly string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => basename(name, SUFFIX))
    .toSorted()

const readScenario = async (file: string): Promise<Scenario> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`could not read the scenario ${file}: ${String(error)}`)
  })
  return { ...parseScenario(basename(file), text), name: basename(file, SUFFIX) }
}
