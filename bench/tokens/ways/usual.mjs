import { usual } from '../usual.mjs'

export const begin = () => {
  const { page, rows } = usual()
  return { rows, page: ({ body }) => page(body.toString()) }
}
