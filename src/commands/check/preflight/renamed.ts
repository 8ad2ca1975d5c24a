import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { atFile, readText } from '../../../core/files.ts'
import { count } from '../../../core/format.ts'
import { describeRenamed, findRenamed } from '../../../health/rules/renamed.ts'
import type { Finding } from '../../../health/finding.ts'
import { finding, type PreflightCheck } from './context.ts'

/** Rules and routes decide what is sent; a dashboard has an empty panel. */
const PLACES = [
  {
    of: 'Prometheus or Alertmanager',
    severity: 'warning',
    directories: ['etc/prometheus', 'etc/alertmanager'],
    advice: 'Write the rules of this version again: `chain-agent rules --output DIRECTORY`, and change your own files.',
  },
  {
    of: 'Grafana',
    severity: 'info',
    directories: ['etc/grafana/provisioning', 'var/lib/grafana/dashboards'],
    advice:
      'Write the dashboards of this version again: `chain-agent dashboards --output DIRECTORY`, and change your own.',
  },
] as const

const TEXT_FILE = /\.(?:json|rules|tmpl|ya?ml)$/
/** Hosts have some hundred; more would take longer than the other checks. */
const MAX_FILES = 1000
const MAX_DIRECTORIES = 200
/** A dashboard has up to 200 KB. */
const MAX_BYTES = 2 * 1024 * 1024
/** Names that are listed of a file. */
const LISTED = 4

/** Files of other programs on this host that name alerts or metrics of version 0.2.0, as far as this user may read them. */
export const renamedNames: PreflightCheck = {
  name: 'which files name alerts or metrics of version 0.2.0',
  run: async ({ config, signal }) => {
    const found: Finding[] = []
    for (const { of, severity, directories, advice } of PLACES) {
      const files = await filesBelow(directories.map((directory) => join(config.version.rootDirectory, directory)))
      const evidence: string[] = []
      for (const file of files) {
        signal.throwIfAborted()
        const text = await readText(file, MAX_BYTES).catch(() => '')
        evidence.push(...describeFile(file, text))
      }
      if (evidence.length === 0) continue
      const subject = evidence.length === 1 ? 'a file' : `${evidence.length} files`
      found.push(
        ...finding('old names', severity, {
          summary: `${subject} of ${of} ${evidence.length === 1 ? 'names' : 'name'} alerts or metrics of version 0.2.0`,
          evidence,
          advice: [advice, 'See each line with what to write: `chain-agent rules --renamed FILE`.'],
        }),
      )
    }
    return found
  },
}

const describeFile = (file: string, text: string): readonly string[] => {
  const uses = /Chain[A-Z]|chain_/.test(text) ? findRenamed(text) : []
  const names = [...new Set(uses.map(describeRenamed))]
  if (names.length === 0) return []
  const more = names.length > LISTED ? [`and ${count(names.length - LISTED, 'more name')}`] : []
  return [`${file}: ${[...names.slice(0, LISTED), ...more].join(', ')}.`]
}

/** Without directories that cannot be listed. A link to a file is read, a link to a directory is not followed. */
const filesBelow = async (roots: readonly string[]): Promise<readonly string[]> => {
  const directories = [...roots]
  const files: string[] = []
  for (const directory of directories) {
    const entries = await atFile(directory, () => readdir(directory, { withFileTypes: true })).catch(() => [])
    for (const entry of entries) {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) {
        if (directories.length < MAX_DIRECTORIES) directories.push(path)
      } else if (TEXT_FILE.test(entry.name) && files.length < MAX_FILES) files.push(path)
    }
  }
  return files.toSorted()
}
