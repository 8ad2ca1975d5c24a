import { naive } from '../naive.mjs'

export const begin = () => {
  const { page, rows } = naive()
  return { rows, page: ({ body }) => page(body.toString()) }
}
