import { count } from '../../core/format.ts'
import { NODE_ARGUMENTS } from '../../domain/node-arguments.ts'
import { fact, type Fact } from '../../health/sections/fact.ts'
import type { Section } from '../../health/sections/section.ts'
import { ARGUMENTS } from '../../health/sections/sections.ts'
import type { ServiceArguments } from '../shared/unit-arguments.ts'

/** What the units of the three services start. It is read from the host, not from the agent. */
export const argumentsSection = (services: readonly ServiceArguments[]): Section => ({
  name: ARGUMENTS,
  groups: services.map((one) => ({
    collector: null,
    source: `the unit files of ${one.unit}`,
    facts: () => factsOf(one),
  })),
})

const factsOf = (one: ServiceArguments): readonly Fact[] => {
  const { service, files, command, problem, differences, changed, isOutdated } = one
  const why = { unknownReason: problem ?? undefined }
  return [
    fact([service, 'program'], command?.program, why),
    ...(command?.arguments ?? []).map(({ name, value }) => {
      const meaning = NODE_ARGUMENTS[service]?.get(name)?.meaning ?? null
      return fact(
        [service, 'arguments', name],
        { value, meaning },
        {
          label: name.startsWith('(') ? name : `--${name}`,
          text: () => [value ?? 'yes', ...(meaning === null ? [] : [meaning])].join(': '),
        },
      )
    }),
    fact([service, 'files'], files, { text: (paths) => paths.join(', ') }),
    fact([service, 'differences'], differences, {
      label: 'changes to the package',
      text: (all) => all.map(({ name, change }) => `${name} ${change}`).join(', ') || 'none',
      tone: (all) => (all.length > 0 ? 'notice' : undefined),
      unknownReason: problem ?? 'no unit file of a package',
    }),
    fact([service, 'changedSinceStart'], changed, {
      label: 'changed since its start',
      text: (paths) => (paths.length === 0 ? 'no' : `${count(paths.length, 'file')}: ${paths.join(', ')}`),
      tone: (paths) => (paths.length > 0 ? 'notice' : undefined),
      unknownReason: 'the service does not run, or the time of its start is not known',
    }),
    fact([service, 'needsReload'], isOutdated, {
      label: 'systemd must reload',
      tone: (is) => (is ? 'notice' : undefined),
    }),
  ]
}
