import { useQuery } from '@tanstack/react-query';
import { Link as RouterLink, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { hasCode } from '../../api.ts';
import type { AccountLink, LinkKind } from '../../api.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { Skeleton } from '../../components/states.tsx';
import { EntryCard } from '../../frame/entry-frame.tsx';
import { formatDateTime } from '../../format.ts';
import { queries } from '../../queries.ts';

/** Ways to get another link when a link is not valid. */
const remedies: Readonly<Record<LinkKind, ReactNode>> = {
  owner: (
    <>
      Make a new one on the machine that runs Lodge: <code className="font-mono">npm run lodge -- owner-link</code>
    </>
  ),
  invite: 'Ask the person who invited you for a new one.',
  reset: 'Ask the operator of this Lodge for a new one. A reset link works for one hour.',
};

interface LinkPageProps {
  readonly kind: LinkKind;
  readonly title: string;
  readonly description: string;
  readonly children: (token: string, link: AccountLink) => ReactNode;
}

/** A page opened by a link with a token in its fragment, which no server sees in the address. */
export function LinkPage({ kind, title, description, children }: LinkPageProps) {
  const token = useLocation({ select: ({ hash }) => new URLSearchParams(hash).get('token') ?? '' });
  const { data: link, error, refetch } = useQuery({ ...queries.link(token), enabled: token !== '' });
  if (token === '' || hasCode(error, 'link_not_valid') || (link !== undefined && link.kind !== kind)) {
    return <NotValid kind={kind} />;
  }
  return (
    <EntryCard
      title={title}
      description={description}
      footer={link && <>This link works once, until {formatDateTime(new Date(link.expires_at))}.</>}
    >
      {link === undefined && error === null && <FormSkeleton />}
      {link === undefined && error !== null && (
        <>
          <Failure error={error} />
          <Button onClick={() => void refetch()}>Try again</Button>
        </>
      )}
      {link !== undefined && children(token, link)}
    </EntryCard>
  );
}

function NotValid({ kind }: { kind: LinkKind }) {
  return (
    <EntryCard title="This link does not work" description="It has been used, has expired, or is not complete.">
      <p>{remedies[kind]}</p>
      <RouterLink to="/account/sign-in" className={buttonClass('secondary')}>
        Go to sign-in
      </RouterLink>
    </EntryCard>
  );
}

function FormSkeleton() {
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">Loading…</span>
      <Skeleton className="h-9" />
      <Skeleton className="h-9" />
      <Skeleton className="h-9 w-2/3" />
    </div>
  );
}
