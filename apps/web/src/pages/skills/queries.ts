import { queryOptions } from '@tanstack/react-query';
import { list, lodge } from '../../api.ts';

export const skillsQuery = queryOptions({ queryKey: ['skills'], queryFn: () => list(lodge.skills.list()) });
