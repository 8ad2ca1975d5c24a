import { compareSurfaces } from './surfaces.ts'

await compareSurfaces(2, 3)
