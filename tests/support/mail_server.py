"""A mail server on this machine, which stores the mails that it gets and responds as a test says."""

import contextlib
import socket
import threading
import time


class MailServer:
    """A server that listens until its `socket` is closed.

    `answer` is the response to RCPT, and each message takes `pause` seconds. `received` contains the lines of all clients;
    `messages` contains pairs of a recipient and an accepted message.
    """

    def __init__(self, answer: bytes = b"250 ok", pause: float = 0.0) -> None:
        self.answer, self.pause = answer, pause
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.received: list[bytes] = []
        self.messages: list[tuple[str, bytes]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        recipient = ""
        # Clients may be killed.
        with contextlib.suppress(OSError), client, client.makefile("rb") as lines:
            client.sendall(b"220 here\r\n")
            for line in lines:
                self.received.append(line)
                verb = line[:4].upper()
                answer = b"250 ok"
                if verb == b"RCPT":
                    answer, recipient = self.answer, line.decode().partition("<")[2].partition(">")[0]
                elif verb == b"DATA":
                    client.sendall(b"354 go\r\n")
                    data = list(iter(lines.readline, b".\r\n"))
                    self.received += data
                    self.messages.append((recipient, b"".join(data)))
                    time.sleep(self.pause)
                elif verb == b"QUIT":
                    answer = b"221 bye"
                client.sendall(answer + b"\r\n")
                if verb == b"QUIT":
                    return
