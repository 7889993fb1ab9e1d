import { queryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../api.ts';

export const limitsQuery = queryOptions({ queryKey: ['limits'], queryFn: () => read(lodge.service.limits()) });
