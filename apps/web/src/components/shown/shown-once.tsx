import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Dialog, DialogActions } from '../dialogs/dialog.tsx';
import { Notice } from '../notice.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly warning: ReactNode;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/** A value that a reply gives this once, to copy. No key closes it by mistake. */
export function ShownOnceDialog({ title, warning, children, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose} dismissable={false} step="shown">
      <Notice kind="warning">{warning}</Notice>
      {children}
      <DialogActions>
        <Button onClick={onClose}>I have kept it safe</Button>
      </DialogActions>
    </Dialog>
  );
}
