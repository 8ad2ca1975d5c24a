import { guide } from '../guide.mjs'

export const begin = () => {
  const { page, rows } = guide()
  return { rows, page: ({ body }) => page(body.toString()) }
}
