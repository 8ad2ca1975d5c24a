// Keeps the status page current: replaces the parts that changed, and reports a lost connection. Copies commands. The
// pages are complete without it.
const root = document.documentElement
const live = document.getElementById('live')
const asOf = document.getElementById('as-of')
const connection = document.getElementById('connection')

const INTERVAL_MS = 5000
/** The icon and the title of a tab that is not looked at. */
const HIDDEN_INTERVAL_MS = 60_000
/** A busy host answers within this time. */
const TIMEOUT_MS = 15_000
const RETRY_MS = 3000

root.classList.add('scripted')

/** @param {number} at */
const timeText = (at) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/**
 * Makes an element like another one, and keeps the nodes that are equal: focus, selection and scroll position stay.
 * @param {Element} target
 * @param {ParentNode} source
 */
const update = (target, source) => {
  const wanted = [...source.childNodes]
  wanted.forEach((next, index) => {
    const now = target.childNodes[index]
    if (!now) target.append(next)
    else if (now.nodeName !== next.nodeName) now.replaceWith(next)
    else if (now instanceof Element && next instanceof Element) {
      copyAttributes(now, next)
      update(now, next)
    } else if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue
  })
  while (target.childNodes.length > wanted.length) target.lastChild?.remove()
}

/**
 * @param {Element} target
 * @param {Element} source
 */
const copyAttributes = (target, source) => {
  for (const { name, value } of source.attributes)
    if (target.getAttribute(name) !== value) target.setAttribute(name, value)
  // The reader has opened it.
  for (const name of target.getAttributeNames())
    if (name !== 'open' && !source.hasAttribute(name)) target.removeAttribute(name)
}

/** @param {string} text */
const report = (text) => {
  if (connection && connection.textContent !== text) connection.textContent = text
}

/** @type {number | undefined} */
let lostAt
/** @type {number | undefined} */
let timer
let isAsking = false

/** Takes the parts of the current page. Without a response the values are not current. */
const refresh = async () => {
  if (isAsking) return
  isAsking = true
  clearTimeout(timer)
  try {
    const response = await fetch('/', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const readAt = page.getElementById('as-of')?.getAttribute('datetime')
    // A proxy may answer with its sign-in page.
    if (!readAt) throw new Error('another page')
    replaceParts(page)
    showTime(Date.parse(readAt))
    lostAt = undefined
    live?.classList.remove('lost')
    report('. Updates by itself.')
  } catch {
    lostAt ??= Date.now()
    live?.classList.add('lost')
    report(`. Connection lost at ${timeText(lostAt)}: the values below are not current.`)
  }
  isAsking = false
  timer = setTimeout(refresh, document.hidden ? HIDDEN_INTERVAL_MS : lostAt === undefined ? INTERVAL_MS : RETRY_MS)
}

/** @param {Document} page */
const replaceParts = (page) => {
  for (const part of page.querySelectorAll('main > section, #icon')) {
    const own = document.getElementById(part.id)
    if (!own) continue
    copyAttributes(own, part)
    update(own, part)
  }
  if (document.title !== page.title) document.title = page.title
}

/** @param {number} at */
const showTime = (at) => {
  if (!(asOf instanceof HTMLTimeElement) || Number.isNaN(at)) return
  asOf.dateTime = new Date(at).toISOString()
  asOf.textContent = timeText(at)
}

if (live) {
  void refresh()
  document.addEventListener('visibilitychange', () => void refresh())
}

/** The text of the round under the pointer, below the strip. It is a neighbour of the part that is updated. */
const tip = document.createElement('p')
tip.className = 'tip'
document.getElementById('rounds')?.after(tip)

/** @param {MouseEvent} event */
const showRound = ({ target, clientX }) => {
  const strip = target instanceof Element ? target.closest('svg.rounds') : null
  if (!(strip instanceof SVGElement)) return
  const { left, width } = strip.getBoundingClientRect()
  const column = Math.floor(((clientX - left) / width) * Number(strip.dataset['columns']))
  tip.textContent = strip.dataset['texts']?.split(';')[column - Number(strip.dataset['first'])] ?? ''
}
document.addEventListener('pointermove', showRound)
document.addEventListener('click', showRound)

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || !target.classList.contains('copy')) return
  const code = target.parentElement?.classList.contains('command')
    ? target.parentElement.querySelector('code')
    : target.previousElementSibling
  if (!code) return
  // The clipboard API exists on HTTPS and localhost only.
  getSelection()?.selectAllChildren(code)
  // oxlint-disable-next-line typescript/no-deprecated -- the only way on plain HTTP
  document.execCommand('copy')
  target.textContent = 'Copied'
  setTimeout(() => {
    target.textContent = 'Copy'
  }, 2000)
})
