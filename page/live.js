// Keeps the status page current: replaces the parts that changed, and reports a lost connection. Copies commands. The
// pages are complete without it.
const root = document.documentElement
const live = document.getElementById('live')
const asOf = document.getElementById('as-of')
const connection = document.getElementById('connection')

/** Without any message for this time the connection is lost, whatever the browser reports: the agent sends one each 4 s. */
const SILENCE_MS = 15_000
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

/** @param {number} at */
const showTime = (at) => {
  if (!(asOf instanceof HTMLTimeElement)) return
  asOf.dateTime = new Date(at).toISOString()
  asOf.textContent = timeText(at)
}

const follow = () => {
  let id = live?.dataset['id'] ?? ''
  /** @type {EventSource | undefined} */
  let source
  /** @type {number | undefined} */
  let timer
  /** @type {number | undefined} */
  let lostAt

  const connect = () => {
    source = new EventSource(`/api/v1/stream?after=${encodeURIComponent(id)}`)
    source.addEventListener('message', (message) => {
      id = message.lastEventId
      /** @type {{ at: number, title: string, icon: string, parts: [string, string][] }} */
      const { at, title, icon, parts } = JSON.parse(message.data)
      for (const [name, text] of parts) {
        const part = document.getElementById(name)
        const template = document.createElement('template')
        template.innerHTML = text
        if (part) update(part, template.content)
      }
      if (document.title !== title) document.title = title
      const link = document.getElementById('icon')
      if (link instanceof HTMLLinkElement && link.getAttribute('href') !== icon) link.href = icon
      alive(at)
    })
    source.addEventListener('alive', (message) => alive(JSON.parse(message.data).at))
    source.addEventListener('error', lose)
    wait()
  }

  /** @param {number} at */
  const alive = (at) => {
    lostAt = undefined
    live?.classList.remove('lost')
    report('. Updates by itself.')
    showTime(at)
    wait()
  }

  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(lose, SILENCE_MS)
  }

  const lose = () => {
    source?.close()
    lostAt ??= Date.now()
    live?.classList.add('lost')
    report(`. Connection lost at ${timeText(lostAt)}: the values below are not current.`)
    clearTimeout(timer)
    timer = setTimeout(connect, RETRY_MS)
  }

  connect()
  // A page that the browser kept while the reader was on another one has no connection.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) lose()
  })
}

if (live) follow()

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
