import type { SimulatedNode } from '../node.ts'
import { installedVersion } from '../scenario/versions.ts'
import type { Tool } from './tools.ts'

/** The stand-in for dpkg-query, which has one package and can only show it: `-W -f=FORMAT NAME`. */
export const createPackageTool =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const [show, form = '', name = '', ...more] = argv
    const [, template] = /^-f=(.*)$/s.exec(form) ?? []
    if (show !== '-W' || template === undefined || more.length > 0) {
      return [{ stderr: 'dpkg-query: error: simulated: -W -f=FORMAT NAME alone\n' }, { exit: 2 }]
    }
    if (name !== node.prefix) {
      return [{ stderr: `dpkg-query: no packages found matching ${name}\n` }, { exit: 1 }]
    }
    const fields: Readonly<Record<string, string>> = {
      'db:Status-Abbrev': 'ii ',
      Package: node.prefix,
      // Debian sorts `~rc` before the release, as `-rc` is meant.
      Version: installedVersion(node.condition().versions).replace('-', '~'),
      Architecture: 'amd64',
    }
    const stdout = template
      .replaceAll(/\$\{([\w:-]+)\}/g, (_, field: string) => fields[field] ?? '')
      .replaceAll(String.raw`\n`, '\n')
    return [{ stdout }, { exit: 0 }]
  }
