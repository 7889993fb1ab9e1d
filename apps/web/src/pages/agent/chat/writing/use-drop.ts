import { useState } from 'react';
import type { DragEvent } from 'react';

/** Takes files that are dragged onto it. */
export function useDrop(enabled: boolean, onFiles: (files: Iterable<File>) => void) {
  const [dragging, setDragging] = useState(false);
  const hasFiles = (event: DragEvent): boolean => enabled && event.dataTransfer.types.includes('Files');
  return {
    dragging,
    onDragOver: (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDragging(true);
    },
    onDragLeave: (event: DragEvent): void => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDragging(false);
    },
    onDrop: (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDragging(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}
