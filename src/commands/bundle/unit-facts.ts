import { UNIT_PROPERTIES } from '../../parsers/systemctl.ts'

/** What a unit tells of itself. Commands and environment are not asked for: units pass passwords there. */
export const UNIT_FACTS = [
  ...UNIT_PROPERTIES,
  'Description',
  'FragmentPath',
  'DropInPaths',
  'NeedDaemonReload',
  'Restart',
  'RestartUSec',
  'User',
  'LimitNOFILE',
  'LimitCORE',
  'MemoryMax',
  'MemoryPeak',
  'ActiveEnterTimestamp',
  'InactiveEnterTimestamp',
] as const
