import { queryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';

/** No event tells of the machine. */
const lookEveryMs = 15_000;
/** The checks take some seconds, once. */
const checksMs = 2_000;

export const hostQuery = queryOptions({
  queryKey: ['host'],
  queryFn: () => read(lodge.service.host()),
  refetchInterval: ({ state: { data } }) => (data?.findings === null ? checksMs : lookEveryMs),
});
