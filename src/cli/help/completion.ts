import type { Command } from 'commander'
import { COLLECTORS } from '../../collectors/index.ts'
import { ALL, ARGUMENTS, SECTIONS } from '../../health/sections/sections.ts'
import { keys, schema } from '../../config/schema.ts'
import { listScenarios } from '../../../simulator/scenario/scenario.ts'
import { createRunbooks } from '../../sources/runbooks.ts'
import { renderBash } from './bash-completion.ts'
import { type CommandModel, type CompletionLists, describeCommand } from './completion-model.ts'
import { renderZsh } from './zsh-completion.ts'

/** The completion script of the program for a shell. */
export const renderCompletion = async (program: Command, shell: 'bash' | 'zsh'): Promise<string> => {
  const model = describeCommand(program)
  return (shell === 'bash' ? renderBash : renderZsh)(model, await readCompletionLists(model))
}

/** The values that only this program knows, for completion. */
const readCompletionLists = async (program: CommandModel): Promise<CompletionLists> => {
  const services = Object.keys(schema.parse({}).services.units)
  const sections = SECTIONS.map(({ name }) => name)
  return {
    alert: await createRunbooks().list(),
    section: [...new Set([...sections, ...services, ARGUMENTS, ALL])],
    scenario: (await listScenarios()).map(({ name }) => name),
    key: keys.map(({ path }) => `${path}=`),
    service: services,
    command: program.commands.map(({ name }) => name),
    collector: Object.keys(COLLECTORS),
    level: schema.shape.log.def.innerType.shape.level.def.innerType.options,
  }
}
