import { Link } from '@tanstack/react-router';
import { pathTo } from '../../paths.ts';

/** An agent of the person's own leads to its page; of another's no more than the id is told. */
export function AgentName({ id, name }: { id: string; name: string | null }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      {name === null ? (
        <span className="font-normal text-muted">Of another person</span>
      ) : (
        <Link
          to={pathTo('/agents/$agentId', id)}
          className="wrap-anywhere text-accent underline-offset-4 hover:underline"
        >
          <bdi>{name}</bdi>
        </Link>
      )}
      <span className="font-mono text-xs font-normal text-muted">{id}</span>
    </span>
  );
}
