import { keptPace } from '@lodge/domain';
import type { Template } from '@lodge/ports';

/** The host's pace, as far as its templates tell: that of the slowest one that was seen. */
export class HostPace {
  private slowest = 1;

  get value(): number {
    return this.slowest;
  }

  /** Gives back what it was told. */
  note<T extends Pick<Template, 'pace'> | null>(template: T): T {
    this.slowest = Math.max(this.slowest, keptPace(template?.pace));
    return template;
  }
}
