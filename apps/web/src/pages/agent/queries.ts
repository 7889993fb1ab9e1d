import { queryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';

export const agentQuery = (id: string) =>
  queryOptions({ queryKey: ['agent', id], queryFn: () => read(lodge.agents.get(id)) });
