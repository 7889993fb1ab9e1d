import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathTo } from '../../paths.ts';
import { agentQuery } from '../agent/queries.ts';

/** The agent's name, or its id while that is all that is known of it. */
export function AgentLink({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...agentQuery(id), staleTime: 60_000 });
  return (
    <Link
      to={pathTo('/agents/$agentId', id)}
      className="min-w-24 wrap-break-word text-accent underline underline-offset-2 hover:text-accent-hover"
    >
      <bdi>{data?.name ?? id}</bdi>
    </Link>
  );
}
