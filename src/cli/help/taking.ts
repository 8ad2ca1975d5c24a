/** What a shell can offer in the place of an argument. */
export type Taking =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** What the shell itself cannot know, and this program can: see `offers.ts`. */
  | { readonly kind: 'offer'; readonly offer: Offer }
  | { readonly kind: 'file' | 'directory' | 'anything' }

export type Offer =
  | 'alert'
  | 'section'
  | 'scenario'
  | 'key'
  | 'service'
  | 'command'
  | 'collector'
  | 'level'

const OFFERS: Readonly<Record<string, Offer>> = {
  alert: 'alert',
  section: 'section',
  'name|file': 'scenario',
  'key=value': 'key',
  service: 'service',
  services: 'service',
  command: 'command',
  collector: 'collector',
  level: 'level',
}

const PLACES: Readonly<Record<string, 'file' | 'directory'>> = {
  file: 'file',
  'file|-': 'file',
  path: 'file',
  dir: 'directory',
  directory: 'directory',
}

/** By the choices that there are, or else by the word that stands for the value in the help. */
export const takenBy = (placeholder: string, choices: readonly string[] | undefined): Taking => {
  const name = placeholder.toLowerCase()
  if (choices) return { kind: 'words', words: choices }
  const offer = OFFERS[name]
  if (offer) return { kind: 'offer', offer }
  return { kind: PLACES[name] ?? 'anything' }
}
