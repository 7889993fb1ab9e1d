import { keptPace } from '@lodge/domain';
import type { Template } from '@lodge/ports';

/** The host's pace as far as its templates show it: that of the slowest one so far. */
export class HostPace {
  private slowest = 1;

  get value(): number {
    return this.slowest;
  }

  /** Notes the template's pace and returns the template. */
  note<T extends Pick<Template, 'pace'> | null>(template: T): T {
    this.slowest = Math.max(this.slowest, keptPace(template?.pace));
    return template;
  }
}
