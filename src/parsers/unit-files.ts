/** The properties that `parseUnitFiles` reads. None of them holds a line of a unit. */
export const UNIT_FILE_PROPERTIES = [
  'Id',
  'LoadState',
  'FragmentPath',
  'DropInPaths',
  'NeedDaemonReload',
] as const

/** Where systemd has a unit from. */
export interface UnitFiles {
  readonly unit: string
  readonly isLoaded: boolean
  /** Null where systemd names none. */
  readonly fragment: string | null
  readonly dropIns: readonly string[]
  /** Whether a file was changed since systemd read it; null where systemd does not tell. */
  readonly isOutdated: boolean | null
}

/** Parses the blocks of `systemctl show`; what has no Id is left out. */
export const parseUnitFiles = (text: string): readonly UnitFiles[] =>
  text.split(/\n{2,}/).flatMap((block) => {
    const properties = new Map(
      block.split('\n').flatMap((line): readonly (readonly [string, string])[] => {
        const at = line.indexOf('=')
        return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()]]
      }),
    )
    const unit = properties.get('Id')
    if (!unit) return []
    const outdated = properties.get('NeedDaemonReload')
    return [
      {
        unit,
        isLoaded: properties.get('LoadState') === 'loaded',
        fragment: properties.get('FragmentPath') || null,
        dropIns: (properties.get('DropInPaths') ?? '').split(' ').filter((path) => path !== ''),
        isOutdated: outdated === undefined ? null : outdated === 'yes',
      },
    ]
  })

/** A name that systemd has for a setting: its values, and what only looks like one, may be secrets. */
const SETTING = /^\s*([A-Z][A-Za-z0-9]{1,40})\s*=/

/** The names of what a unit file or a drop-in sets, each once; of the values nothing. */
export const settingsOf = (text: string): readonly string[] => {
  const names = new Set<string>()
  let continues = false
  for (const line of text.split(/\r?\n/)) {
    const isComment = /^\s*[#;]/.test(line)
    // A comment between two parts of a long line does not end it.
    if (isComment) continue
    const [, name] = continues ? [] : (SETTING.exec(line) ?? [])
    if (name !== undefined) names.add(name)
    continues = line.endsWith('\\')
  }
  return [...names]
}
