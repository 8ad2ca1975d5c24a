/**
 * What may be shown of an address. Keys hide in user names, passwords, paths and queries alike
 * (`https://host/v2/KEY`), so only scheme, host and port are left.
 */
export const redactUrl = (text: string): string => {
  if (!URL.canParse(text)) return '(not a URL)'
  const url = new URL(text)
  const more = url.pathname !== '/' || url.search !== '' || url.username !== '' || url.hash !== ''
  return more ? `${url.protocol}//${url.host}/…` : `${url.protocol}//${url.host}`
}

/** Takes out of a text what must not leave the host: credentials in addresses, and home directories. */
export const redact = (text: string): string =>
  text
    .replaceAll(/\bhttps?:\/\/[^\s"'<>]+/g, redactUrl)
    .replaceAll(/\/(?:home\/[^/\s:"']+|root)(?=\/|\b)/g, '~')
