import { ExternalLink } from 'lucide-react';
import { Button, buttonClass } from '../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { visibleText } from '../../../components/words/visible-text.ts';

/** A longer address is not for people. */
const maxAddress = 4000;

/** Asks before a link of the machine's output opens: its text can say anything, so the whole address is shown. */
export function LinkDialog({ url, onClose }: { url: string; onClose: () => void }) {
  const address = checked(url);
  return (
    <Dialog
      title="Open this address?"
      description="A program in the machine wrote the link. Its text need not be where it leads."
      onClose={onClose}
    >
      {address === null ? (
        <p>This is no address that a page opens.</p>
      ) : (
        <p className="max-h-48 overflow-y-auto rounded-control border border-line bg-sunken p-3 font-mono text-[0.8125rem] wrap-anywhere">
          <bdi dir="ltr">{visibleText(address.href)}</bdi>
        </p>
      )}
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          Cancel
        </Button>
        {address !== null && (
          <a
            href={address.href}
            target="_blank"
            rel="noopener noreferrer"
            onClick={onClose}
            className={buttonClass('primary')}
          >
            <ExternalLink aria-hidden className="size-4" />
            <span className="truncate">Open {address.host}</span>
          </a>
        )}
      </DialogActions>
    </Dialog>
  );
}

function checked(url: string): URL | null {
  if (url.length > maxAddress || !URL.canParse(url)) return null;
  const address = new URL(url);
  return ['http:', 'https:'].includes(address.protocol) ? address : null;
}
