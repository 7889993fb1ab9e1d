import { LoaderCircle } from 'lucide-react';
import { OutwardLink } from '../../../components/shown/links.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import type { Consent } from './use-consent.ts';

/** How a consent in another window is. */
export function ConsentProgress({ consent }: { readonly consent: Consent }) {
  const { address, isBlocked, error } = consent;
  return (
    <>
      <Failure error={error} />
      {address !== undefined && isBlocked && (
        <Notice kind="warning">
          The browser opened no window. <OutwardLink href={address}>Open the consent</OutwardLink>
        </Notice>
      )}
      {address !== undefined && !isBlocked && (
        <p role="status" className="flex flex-wrap items-center gap-2 text-muted">
          <LoaderCircle aria-hidden className="size-4 animate-spin" />
          Waiting for the consent in the other window, for 10 minutes at most. This page goes on by itself.
        </p>
      )}
    </>
  );
}
