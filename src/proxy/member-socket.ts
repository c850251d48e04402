// A connection to a member: an ordinary socket, but what comes out of it is read by an inflow.
import { Socket } from 'node:net';
import { Inflow } from './inflow.ts';
import { SOCKET_OPTIONS } from './socket.ts';

export class MemberSocket extends Socket {
  readonly inflow: Inflow;

  constructor() {
    const inflow = new Inflow();
    super({ ...SOCKET_OPTIONS, onread: inflow.onread });
    this.inflow = inflow;
    inflow.pushTo(this);
  }
}
