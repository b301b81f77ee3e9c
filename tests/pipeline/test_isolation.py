"""What the isolation of runs itself turns red is told as that, with the setting that helps; what is allowed works."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.lab import Lab, only

from regreen.values import Outcome


@pytest.fixture
def service() -> Iterator[int]:
    """A service of this machine: the port at which it takes and closes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            with contextlib.suppress(OSError):  # it was closed
                while True:
                    server.accept()[0].close()

        thread = threading.Thread(target=take)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def calling(port: int) -> dict[str, str]:
    return {
        "client.py": f"""
            import socket

            def up():
                try:
                    socket.create_connection(("127.0.0.1", {port}), 2).close()
                except OSError:
                    return False
                return True

            def call():
                socket.create_connection(("127.0.0.1", {port}), 2).close()
            """,
        "test_client.py": """
            import client

            def test_up():
                assert client.up()

            def test_call():
                client.call()
            """,
    }


@pytest.mark.parametrize("test", ["test_up", "test_call"])
async def test_a_test_that_needs_a_service_of_the_machine_is_told_the_setting(
    lab: Lab, service: int, test: str
) -> None:
    lab.write(calling(service))
    base = await lab.baseline(nodeids=(f"test_client.py::{test}",))
    result = only(await lab.heal(base))
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert "without it, it is green" in result.reason
    services, network = map(result.reason.index, ("regreen.isolation.services", "regreen.isolation.network"))
    assert services < network
    assert (f'add "127.0.0.1:{service}"' in result.reason) == (test == "test_call")


async def test_with_the_service_named_it_is_green(lab: Lab, service: int) -> None:
    lab.write(calling(service))
    lab.settings(services=(f"127.0.0.1:{service}",))
    base = await lab.baseline()
    assert base.report.failures == ()
    assert base.report.isolation == "full"


async def test_a_service_that_is_named_and_does_not_run_is_said_to_be_down(lab: Lab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    lab.write(
        {
            "test_client.py": f"""
                import socket

                def test_call():
                    with socket.create_connection(("127.0.0.1", {port}), 2) as client:
                        client.sendall(b"hello")
                        assert client.recv(1) == b"h"
                """
        }
    )
    lab.settings(services=(str(port),))
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert "a service that does not answer" in result.reason


async def test_with_the_network_allowed_it_is_green(lab: Lab, service: int) -> None:
    lab.write(calling(service))
    lab.settings(network=True)
    assert (await lab.baseline()).report.failures == ()


@pytest.fixture
def prices(lab: Lab) -> Path:
    """A file outside of the workspace that a test reads."""
    path = lab.outside / "prices.txt"
    path.write_text("3")
    lab.write(
        {
            "shop.py": f"def price():\n    return int(open({str(path)!r}).read())\n",
            "test_shop.py": "import shop\n\ndef test_price():\n    assert shop.price() == 3\n",
        }
    )
    return path


async def test_a_test_that_reads_a_file_of_the_users_is_told_the_setting(lab: Lab, prices: Path) -> None:
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert str(prices) in result.reason
    assert "`regreen.isolation.readable`" in result.reason


async def test_with_the_file_allowed_it_is_green(lab: Lab, prices: Path) -> None:
    lab.settings(readable=(str(prices),))
    assert (await lab.baseline()).report.failures == ()


async def test_a_bug_is_not_blamed_on_the_isolation(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": "def total(prices):\n    return sum(prices) - 1\n",
            "test_cart.py": "import cart\n\ndef test_total():\n    assert cart.total([1, 2]) == 3\n"
            "\ndef test_one():\n    assert cart.total([5]) == 5\n",
        }
    )
    result = (await lab.heal())[0]
    assert result.outcome is Outcome.VERIFIED, result.reason


async def test_a_relaxed_run_cannot_change_what_is_the_users(lab: Lab) -> None:
    path = lab.outside / "new"
    lab.write({"test_it.py": f"def test_write():\n    open({str(path)!r}, 'w').close()\n"})
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT
    assert f"writes to {path}" in result.reason
    assert not path.exists()
