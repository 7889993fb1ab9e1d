import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../format.ts';
import { mostOpen, openConfirmations } from './queries.ts';

function useOpen(): { readonly words: string; readonly isOne: boolean } | null {
  const { data } = useQuery(openConfirmations);
  if (data === undefined || data.data.length === 0) return null;
  return { words: data.has_more ? `${mostOpen}+` : formatNumber(data.data.length), isOne: data.data.length === 1 };
}

/** How many calls and questions of agents wait for somebody; nothing where none does. */
export function OpenCount() {
  const open = useOpen();
  if (open === null) return null;
  return (
    <span className="ml-auto rounded-full bg-warn-soft px-2 text-xs font-medium text-warn tabular-nums">
      {open.words}
      <span className="sr-only"> open</span>
    </span>
  );
}

/** Leads to them from the pages of an agent, whose navigation has no such page. */
export function OpenNotice({ onNavigate }: { readonly onNavigate?: () => void }) {
  const open = useOpen();
  if (open === null) return null;
  return (
    <Link
      to="/confirmations"
      onClick={onNavigate}
      className="rounded-control bg-warn-soft px-3 py-1.5 text-[0.8125rem] font-medium text-warn hover:underline"
    >
      {open.isOne ? '1 open confirmation' : `${open.words} open confirmations`}
    </Link>
  );
}
