// The metrics that the node defines: name without its first part → the constants or fields that hold them.

const CONSTANT = /(\w+)\s*\{\s*name:\s*"\w+?[._]([\w.]+)"/g
/** `MetricDef::new(concat!("monad.wireauth.", $transport, ".state.…"))` as the value of a field. */
const FIELD = /(\w+):\s*&?(?:\w+::)*MetricDef::new\(\s*concat!\(\s*"\w+?[._]([\w.]*)",\s*\$\w+,\s*"([\w.]+)"/g
/** `(Class, class_field, [(name, "help"), …])` of the state's own macro. */
const STATE_CLASS = /\(\s*[A-Z]\w*,\s*(\w+),\s*\[([^\]]*)\]/g

const withUnderscores = (name) => name.replaceAll('.', '_')

export const createMetricIndex = ({ files }) => {
  const byName = new Map()
  const add = (name, identifier, file) => byName.set(name, [...(byName.get(name) ?? []), { identifier, file }])
  for (const [file, text] of files) {
    if (!file.startsWith('monad-bft/') || !file.endsWith('.rs')) continue
    for (const [, identifier, name] of text.matchAll(CONSTANT)) add(withUnderscores(name), identifier, file)
    for (const [, identifier, first, last] of text.matchAll(FIELD)) {
      for (const transport of ['udp', 'tcp']) add(withUnderscores(`${first}${transport}${last}`), identifier, file)
    }
    for (const [, field, list] of text.matchAll(STATE_CLASS)) {
      for (const [, name] of list.matchAll(/\(\s*(\w+),/g)) add(`state_${field}_${name}`, name, file)
    }
  }
  return byName
}
