import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { focusHeading } from '../form/focus.ts';
import { Failure } from '../notice.tsx';

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. The harmless answer has the focus. */
export function ConfirmDialog({ title, children, action, run, onDone, onClose }: ConfirmProps) {
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: () => {
      onClose();
      onDone();
      // The element that opened the dialog disappears with its object.
      requestAnimationFrame(focusHeading);
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="text-muted">{children}</div>
      <Failure error={mutation.error} />
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          Cancel
        </Button>
        <Button variant="danger" pending={mutation.isPending} onClick={() => mutation.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
