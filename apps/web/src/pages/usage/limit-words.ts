import type { SpendLimit } from '../../api.ts';

/** What happens once a limit is reached, until its day or month ends. */
export const actionWords: Readonly<Record<SpendLimit['action'], string>> = {
  block: 'Model calls are refused',
  pause: 'Agents are put to sleep as well',
};
