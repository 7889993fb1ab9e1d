import type { SpendLimit } from '../../api.ts';

/** The effect of a reached limit, until its day or month ends. */
export const actionWords: Readonly<Record<SpendLimit['action'], string>> = {
  block: 'Model calls are refused',
  pause: 'Agents are put to sleep as well',
};
