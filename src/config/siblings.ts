import { keys } from './keys.ts'

/** The keys that could stand where one stands that is none. */
export const siblingsOf = (path: readonly PropertyKey[]): readonly string[] => {
  if (path[0] === 'references') return ['name', 'url', 'kind', 'apiKeyFile']
  if (path[0] === 'tokens' && path.includes('holders')) return ['name', 'address', 'id']
  if (path[0] === 'tokens' && path.length > 1) return TOKEN_KEYS
  const prefix = path.length === 0 ? '' : `${path.join('.')}.`
  const names = keys
    .filter((key) => key.path.startsWith(prefix))
    .map((key) => key.path.slice(prefix.length).split('.')[0] ?? '')
  return [...new Set(names)]
}

const TOKEN_KEYS = [
  'name',
  'contract',
  'standard',
  'profile',
  'decimals',
  'fromBlock',
  'holders',
] as const
